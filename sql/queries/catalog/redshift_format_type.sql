SELECT format_type(%(type_oid)s::oid, %(modifier)s::integer) AS type_name
