-- The role that BI tools log in as: it reads `reports` and can hold no connection and no statement for long.
CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE CONNECTION LIMIT 20;
ALTER ROLE {role} SET default_transaction_read_only = on;
ALTER ROLE {role} SET statement_timeout = '60s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE {role} SET search_path = reports;
