SELECT nightshift.append_audit_event(%(actor)s, %(action)s, %(object)s, %(detail)s);
