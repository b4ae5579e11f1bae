CREATE DATABASE {database} TEMPLATE {source};
