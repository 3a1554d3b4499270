C     The habits of phiGRAPE: every call an INTEGER FUNCTION, addresses
C     from 0 and labels from 1, h2 = eps2 always, the first block
C     computed twice, the same arrays for old and new forces, a probe
C     with the label -1, integer expressions as arguments.
      PROGRAM PHIGRP
      INTEGER NPMAX
      PARAMETER (NPMAX=16384)
      INTEGER NJ, NI, I, J, K, IADR, LABEL, IERR
      INTEGER IND(NPMAX), NN(NPMAX)
      DOUBLE PRECISION TI, EPS2, T, DT, BODY, HDUM
      DOUBLE PRECISION D2(3), D1(3), A2(3), VJ(3), XJ(3)
      DOUBLE PRECISION X(3,NPMAX), V(3,NPMAX), A(3,NPMAX), AD(3,NPMAX)
      DOUBLE PRECISION PHI(NPMAX), H2(NPMAX)
      COMMON /GRAPE/ X, V, A, AD, PHI, H2, IND, NN
      INTEGER G6_OPEN, G6_CLOSE, G6_NPIPES, G6_SET_TUNIT, G6_SET_XUNIT
      INTEGER G6_SET_TI, G6_SET_J_PARTICLE, G6CALC_FIRSTHALF
      INTEGER G6CALC_LASTHALF, G6CALC_LASTHALF2
      CHARACTER*1024 FNAME

      CALL GETARG(1, FNAME)
      OPEN (10, FILE=FNAME, STATUS='OLD')
      READ (10,*) NJ, NI, TI, EPS2
      IERR = G6_OPEN(0)
      IF (G6_NPIPES() .GT. NPMAX) STOP 2
      IERR = IERR + G6_SET_TUNIT(48)
      IERR = IERR + G6_SET_XUNIT(48)
      DO 10 J = 1, NJ
         READ (10,*) IADR, LABEL, T, DT, BODY, D2, D1, A2, VJ, XJ
         IERR = IERR + G6_SET_J_PARTICLE(0, J-1, LABEL, T, DT,
     &                          BODY, D2, D1, A2, VJ, XJ)
 10   CONTINUE
      DO 20 I = 1, NI
         READ (10,*) IND(I), (X(K,I),K=1,3), (V(K,I),K=1,3), HDUM
         H2(I) = EPS2
         DO 15 K = 1, 3
            A(K,I) = 0.D0
            AD(K,I) = 1.D-5
 15      CONTINUE
         PHI(I) = 0.D0
 20   CONTINUE
      IND(NI) = -1
      IERR = IERR + G6_SET_TI(0, TI)
      IERR = IERR + G6CALC_FIRSTHALF(0, NJ, NI, IND, X, V, A, AD, PHI,
     &                               EPS2, H2)
      IERR = IERR + G6CALC_LASTHALF(0, NJ, NI, IND, X, V, EPS2, H2,
     &                              A, AD, PHI)
      IERR = IERR + G6CALC_FIRSTHALF(0, NJ, NI, IND, X, V, A, AD, PHI,
     &                               EPS2, H2)
      IERR = IERR + G6CALC_LASTHALF2(0, NJ, NI, IND, X, V, EPS2, H2,
     &                               A, AD, PHI, NN)
      DO 30 I = 1, NI
         WRITE (*,'(I12,7ES25.16E2,I12,I6)')
     &        IND(I), (A(K,I),K=1,3), (AD(K,I),K=1,3), PHI(I),
     &        NN(I), 0
 30   CONTINUE
      IERR = IERR + G6_CLOSE(0)
      IF (IERR .NE. 0) STOP 3
      END
