// A page that was opened as a file may not fetch others, so that results of the search have no extracts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
