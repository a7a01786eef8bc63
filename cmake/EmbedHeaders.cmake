# Writes a source file that holds the text of headers for the run-time compiler. Run by cmake -P with
#   OUTPUT  the file to write
#   ROOT    folder that the paths in #include start from
#   HEADERS paths below ROOT, separated by |
string(REPLACE "|" ";" headers "${HEADERS}")
set(text "#include \"runtime/jit.hpp\"\n\nnamespace {\nconst ductile::jit::Headers headers({\n")
foreach(header IN LISTS headers)
  file(READ "${ROOT}/${header}" content)
  string(APPEND text "{\"${header}\", R\"ductile(${content})ductile\"},\n")
endforeach()
string(APPEND text "});\n}  // namespace\n")
file(WRITE "${OUTPUT}" "${text}")
