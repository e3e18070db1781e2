/* Runs of pixels as COCO stores them. */
#ifndef R4_DATA_ANNOTATION_COCO_RUNS_H
#define R4_DATA_ANNOTATION_COCO_RUNS_H

#include "base/json.h"
#include "data/annotation/annotation.h"

/* {"size": [height, width], "counts": [...] or "..."}: pixels column by column, not marked and marked in turns. */
r4_status coco_read_runs(const struct js *v, size_t image, const char *where, struct annotations *to,
                         r4_error *e);

#endif
