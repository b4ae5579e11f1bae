SELECT rolname FROM pg_roles WHERE rolname = %(role)s;
