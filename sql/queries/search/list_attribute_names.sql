SELECT DISTINCT name FROM nightshift.document_attribute ORDER BY name
