/* Settings from text, as of a file a.yaml. */
#ifndef SETTINGS_CASE_H
#define SETTINGS_CASE_H

#include "config/settings.h"

r4_status settings_case_read(r4_settings *s, const char *text, r4_error *e);
/* The defaults and the text, which must be fine. */
r4_settings *settings_case(const char *text);
/* The defaults, then key=value of both lists, which end with NULL; more may be NULL. */
r4_settings *settings_case_with(const char *const *common, const char *const *more);

#endif
