-- The role that questions are asked as: it reads, whatever SQL reaches it.
CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
ALTER ROLE {role} SET default_transaction_read_only = on;
ALTER ROLE {role} SET statement_timeout = '120s';
-- What the server tells of each statement (docs/warehouse.md) is kept out of its own log.
ALTER ROLE {role} SET log_error_verbosity = 'terse';
