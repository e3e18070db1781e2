/* The data set and the settings of the README, small: photos whose left half tells the class most of the time, and
 * whose right half is a tag that always does. */
#ifndef MYDATA_CASE_H
#define MYDATA_CASE_H

/* mydata, with masks for two photos of three, and the folder new with a photo, in the folder of the test (scratch.h).
 * */
void mydata_photos(void);
/* mydata.yaml: the block of this document that begins with "    # mydata.yaml", for photos of 16 x 16. */
void mydata_settings(const char *readme);

#endif
