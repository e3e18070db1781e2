/* Student's distribution. */
#ifndef R4_BASE_STUDENT_H
#define R4_BASE_STUDENT_H

/* The chance of a |T| of at least |t| with this many degrees of freedom, whole or not. */
double student_p(double t, double freedom);

#endif
