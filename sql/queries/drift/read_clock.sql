SELECT clock_timestamp() AS moment
