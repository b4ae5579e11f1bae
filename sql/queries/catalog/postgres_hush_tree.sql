SET LOCAL debug_print_parse = OFF
