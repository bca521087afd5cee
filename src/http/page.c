/* SPDX-License-Identifier: MIT */
/* Where web/ is not there to be embedded. */
#include "http/page.h"

const unsigned char web_page[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>smeff</title>"
    "<h1>smeff</h1><p><a href=\"/status.json\">status.json</a> <a href=\"/metrics\">metrics</a>"
    "</p></html>\n";
const size_t web_page_size = sizeof web_page - 1;
const char web_page_csp[] = "default-src 'none'; frame-ancestors 'none'";
