C     Calls the library as NBODY6+P3T does: a changeover radius stands
C     behind the arguments of the irregular force, the regular force has
C     nine arguments, and no sources are sent. All is refused: forces of
C     neighbours are NaN, and nothing else is written. Prints how many
C     are not.
      PROGRAM CLIENT
      INTEGER N, LMAX
      PARAMETER (N=20, LMAX=21)
      INTEGER I, NN, NB, LLMAX, NWRONG, LISTGP(LMAX,N), NXT(N)
      DOUBLE PRECISION BODY(N), X(3,N), XDOT(3,N), ZERO(3), TIME
      DOUBLE PRECISION ACC(3,N), JRK(3,N), GF(3,N), GFD(3,N), RCUT(N)
      EXTERNAL GPUNB_OPEN, GPUNB_REGF, GPUNB_CLOSE, GPUIRR_OPEN
      EXTERNAL GPUIRR_SET_JP, GPUIRR_SET_LIST, GPUIRR_PRED_ALL
      EXTERNAL GPUIRR_FIRR, GPUIRR_FIRR_VEC, GPUIRR_CLOSE

      NN = N
      NB = LMAX - 5
      LLMAX = LMAX
      TIME = 0
      ZERO = 0
      BODY = 1D0/N
      XDOT = 0
      RCUT = 3
      ACC = 7
      JRK = 7
      LISTGP = 7
      DO 10 I = 1, N
         X(1,I) = I
         X(2,I) = 0
         X(3,I) = 0
         NXT(I) = I
 10   CONTINUE
      CALL GPUNB_OPEN(NN, NB)
      CALL GPUIRR_OPEN(NN, LLMAX)
      CALL GPUNB_REGF(NN, BODY, X, XDOT, ACC, JRK, LLMAX, LISTGP, RCUT)
      NWRONG = COUNT(ACC.NE.7) + COUNT(JRK.NE.7) + COUNT(LISTGP.NE.7)
      LISTGP(1,1) = 2
      LISTGP(2,1) = 2
      LISTGP(3,1) = 3
      DO 20 I = 1, N
         CALL GPUIRR_SET_JP(I, X(1,I), XDOT(1,I), ZERO, ZERO, BODY(I),
     &                      TIME)
         CALL GPUIRR_SET_LIST(I, LISTGP(1,1))
 20   CONTINUE
      CALL GPUIRR_PRED_ALL(1, NN, TIME)
      GF = 7
      GFD = 7
      CALL GPUIRR_FIRR_VEC(NN, NXT, GF, GFD, RCUT)
      NWRONG = NWRONG + COUNT(GF.EQ.GF) + COUNT(GFD.EQ.GFD)
      GF = 7
      GFD = 7
      CALL GPUIRR_FIRR(2, GF, GFD, RCUT)
      NWRONG = NWRONG + COUNT(GF.NE.7) + COUNT(GFD.NE.7) - 6
      CALL GPUIRR_CLOSE
      CALL GPUNB_CLOSE
      WRITE (*,'(I0,A)') NWRONG, ' wrong'
      END
