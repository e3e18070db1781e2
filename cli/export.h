/* Formats of r4 export: one file each, export_NAME.c, and a line in the table of cmd_export.c. */
#ifndef R4_CLI_EXPORT_H
#define R4_CLI_EXPORT_H

#include "cli.h"

struct export_format {
  const char *ending; /* of the names of files */
  r4_status (*save)(const r4_model *m, const char *const *class_names, const char *path, r4_error *e);
  void (*describe)(const r4_model *m); /* a line on stdout: what the file takes and gives */
};

extern const struct export_format export_onnx;

#endif
