SET search_path TO nightshift;
