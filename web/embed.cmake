# SPDX-License-Identifier: MIT
# Makes the live page: one HTML file with its style and its script inside, and the same as C, with
# the Content-Security-Policy that lets these two run and nothing else.
#   cmake -D SOURCE=web -D CATALOGUE=catalogue.js -D OUT=folder -P embed.cmake
# writes OUT/page.html and OUT/web_page.c.
cmake_minimum_required(VERSION 3.22)

# In this order; one scope, so later files use earlier ones.
set(scripts format.js dom.js trace.js feed.js chart.js lane.js pieces.js view_parts.js view_overview.js
    view_gpu.js view_metrics.js view_processes.js keys.js page.js places.js moments.js words.js start.js)

# BASE64 of the SHA-256 of a file.
function(hash_of file out)
  set(digits A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9 + /)
  file(SHA256 ${file} hex)
  set(text "")
  foreach(at RANGE 0 60 6) # 32 bytes: eleven groups of three, the last one short of a byte
    string(SUBSTRING "${hex}00" ${at} 6 group)
    math(EXPR bits "0x${group}")
    foreach(shift 18 12 6 0)
      math(EXPR index "(${bits} >> ${shift}) & 63")
      list(GET digits ${index} digit)
      string(APPEND text ${digit})
    endforeach()
  endforeach()
  string(REGEX REPLACE ".$" "=" text "${text}")
  set(${out} ${text} PARENT_SCOPE)
endfunction()

# What a browser does not need: comments on lines of their own, and indentation.
function(read_lean file out)
  file(READ ${file} text)
  string(REGEX REPLACE "(^|\n) */\\*([^*]|\\*[^/])*\\*/" "\n" text "${text}")
  string(REGEX REPLACE "\n[ \n]+" "\n" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# What stands between the tags, to the byte.
set(script "\n(() => {\n'use strict';")
foreach(file ${CATALOGUE} ${scripts})
  get_filename_component(path ${file} ABSOLUTE BASE_DIR ${SOURCE})
  read_lean(${path} part)
  string(APPEND script "${part}")
endforeach()
string(APPEND script "})();\n")
read_lean(${SOURCE}/page.css style)
file(WRITE ${OUT}/script.js "${script}")
file(WRITE ${OUT}/style.css "${style}")
hash_of(${OUT}/script.js script_hash)
hash_of(${OUT}/style.css style_hash)

file(READ ${SOURCE}/page.html page)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${OUT}/page.html "${page}")

file(READ ${OUT}/page.html hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(SIZE ${OUT}/page.html size)
string(CONCAT policy "default-src 'none'; script-src 'sha256-${script_hash}'; style-src 'sha256-${style_hash}'; "
  "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
file(WRITE ${OUT}/web_page.c "/* SPDX-License-Identifier: MIT */
/* Made by web/embed.cmake. */
#include \"http/page.h\"

const unsigned char web_page[] = {
${bytes}};
const size_t web_page_size = ${size};
const char web_page_csp[] =
    \"${policy}\";
")
