"""Asking servers on the web: one client for reports, data files and parts of files.

`http.Http` waits its turn, says who it is and tries again; `answer` tells what a failure means;
`download` brings files, which go on where they broke off.
"""
