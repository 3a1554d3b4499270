/* g5nbutil.h: the name under which clients of GRAPE-7 include the header of their library. */
#ifndef KIRIN_G5NBUTIL_H
#define KIRIN_G5NBUTIL_H

#include "gp5util.h"

#endif /* KIRIN_G5NBUTIL_H */
