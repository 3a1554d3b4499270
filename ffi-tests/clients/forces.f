C     Reads a particle set, computes the forces through implicit
C     interfaces as Fortran 77 programs do, and prints them.
      PROGRAM FORCES
      INTEGER NPMAX, LONG
      PARAMETER (NPMAX=16384, LONG=1000)
      INTEGER NJ, NI, N, I, J, K, NDONE, NPIPE, IADR, LABEL, LEN, IERR
      INTEGER INDEX(NPMAX), NN(NPMAX), LIST(LONG)
      DOUBLE PRECISION TI, EPS2, T, DT, BODY
      DOUBLE PRECISION D2(3), D1(3), A2(3), VJ(3), XJ(3)
      DOUBLE PRECISION X(3,NPMAX), V(3,NPMAX), A(3,NPMAX), AD(3,NPMAX)
      DOUBLE PRECISION PHI(NPMAX), H2(NPMAX)
      COMMON /GRAPE/ X, V, A, AD, PHI, H2, INDEX, NN
      INTEGER G6_NPIPES, G6CALC_LASTHALF2
      INTEGER G6_READ_NEIGHBOUR_LIST, G6_GET_NEIGHBOUR_LIST
      EXTERNAL G6_NPIPES, G6CALC_LASTHALF2
      EXTERNAL G6_READ_NEIGHBOUR_LIST, G6_GET_NEIGHBOUR_LIST
      EXTERNAL G6_OPEN, G6_CLOSE, G6_SET_TUNIT, G6_SET_XUNIT
      CHARACTER*1024 FNAME

      CALL GETARG(1, FNAME)
      OPEN (10, FILE=FNAME, STATUS='OLD')
      READ (10,*) NJ, NI, TI, EPS2
      NPIPE = G6_NPIPES()
      CALL G6_OPEN(0)
      CALL G6_SET_TUNIT(45)
      CALL G6_SET_XUNIT(45)
      DO 10 J = 1, NJ
         READ (10,*) IADR, LABEL, T, DT, BODY, D2, D1, A2, VJ, XJ
         CALL G6_SET_J_PARTICLE(0, IADR, LABEL, T, DT, BODY,
     &                          D2, D1, A2, VJ, XJ)
 10   CONTINUE
      CALL G6_SET_TI(0, TI)
      DO 40 NDONE = 0, NI-1, NPIPE
         N = MIN(NPIPE, NI-NDONE)
         DO 20 I = 1, N
            READ (10,*) INDEX(I), (X(K,I),K=1,3), (V(K,I),K=1,3), H2(I)
 20      CONTINUE
         CALL G6CALC_FIRSTHALF(0, NJ, N, INDEX, X, V, A, AD, PHI,
     &                         EPS2, H2)
         IERR = G6CALC_LASTHALF2(0, NJ, N, INDEX, X, V, EPS2, H2,
     &                           A, AD, PHI, NN)
         IF (IERR .NE. 0) STOP 4
         IF (G6_READ_NEIGHBOUR_LIST(0) .NE. 0) STOP 5
         DO 30 I = 1, N
            IERR = G6_GET_NEIGHBOUR_LIST(0, I-1, LONG, LEN, LIST)
            IF (IERR .NE. 0) STOP 6
            WRITE (*,'(I12,7ES25.16E2,I12,I6,1000I12)')
     &           INDEX(I), (A(K,I),K=1,3), (AD(K,I),K=1,3), PHI(I),
     &           NN(I), LEN, (LIST(K),K=1,LEN)
 30      CONTINUE
 40   CONTINUE
      CALL G6_CLOSE(0)
      END
