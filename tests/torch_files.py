"""Two small files that torch 2.13 wrote, as text.

The same values in its zip format, and in the one before PyTorch 1.6.
"""

import base64
import zlib


def _content(text):
    return zlib.decompress(base64.b85decode(text))


# fmt: off
ZIP = _content(
    "c-qBT3v?V+8J<nrZMrQ<8$ueQEr?*ZmZsT9Hk-b-gf;;NN;(BuYvVZCo$OAT-PwQVZrT*1!IHG0yb2WyXf1*Yh=?N6`T"
    "(RVDk+MJg3@Y1<ss4*AE2INy^q<=%-xfu$@U!QbT-M%e2@Fz|Ni%%ZHHJsMGz_~grZ}XP%S9gSW@dz7snN(G-"
    "R&U+gdAy^^T*zEEY3#U5z2lNSmI^vvD=6##d=E<N;xU1TJrMDke)AaaD)1B)L@Xjk@urO{$hiBA60G23Bd1b4b%okDOJ"
    "za+)5Ok(xG*tlZ=Gz*Mg{It?RC{G^gl!Ob9^Hr-"
    "IrI(E?m)1of?Oe0i8%kj@xCI{2SG6bHrq9D4&vO$<3mWi%Gm^nmUoQ9xMf~qJUz0jp8Cd^7=ouoU-cziHBIbC!isHXS<"
    "IGuddFzgu!Y9*MH>w~)Jbo{WKQjtPp1ZUFw^-"
    "&T)cuya^mm2R;vnCD?%oSaxX?9VAMh3yWJ~)fT$3zNJ;p{$mpH~$6;2baYWg;~L?|1m}!@11YdDz#21<cO}5X_f=1xek"
    "Uk(HhVEO5XA@WCVv$HGE5&S&9R#3&jNES8`#>KUPsO#q*RB?x}T5-"
    "6|)8A}sm2_a~fAe<9jebC}fI;}Us5@vm=&H6F~%OzNmblMF;ggv^_iv9)Uqm@A}M6gPN)k&wfW@uxOb_;S5`M8)tE<qq"
    "laA__VorxdKC|M;XC$dH^W5Q*fu%-_#_eRU`9X$&j?UDU=kmF7|F<p3OO<3C=d2^T?2iqe@-"
    "+A`M+HDI5L89}hVvcp~D^~a3^m5}3ODI3fY&ovRlwP=^J#yWaBkd2>TtlZvNtubP5{D~?qGZjbl+9X7+oHmUhUo2XBda"
    "R0BwV$I&O}Vfpj=kz(p88KMJw@@xYpf`S6CWp^y-"
    "I)sLSr0sm5XbnrJO~M2+E*>1ted82QL{N~xtajMZg4)D0s;b?3ukLT4v@)JsCB=9C;u&R7z&%YE=MmaJFE*fuDlhb0_R"
    "<dl|%uJ(N8pd;&2Ocjfm5bK0^K}ew<bj3unnlbP|RZ)n}AWMkkx{Qsd5p;_#c1<&7%Pu5_qV?obLPeNWjww1FpoWrKnq"
    "nczA}UjIJUXotHje1#=t8AKRFRs6t4Aq2g(p0qJMt?GDVASpE58i#kzx4-2(l8G+vy)@8{{PDp`q&0)J-"
    "OA>V(Z+2U`pDVm3E|Ere~#09-@ZKF-"
    "+s5PU*{Pv!wh>(TzTc&(L@MRzS*d!J&DZ$)sO1OqCa#5n5Bs3r_{!Zu6MDweH=p%-"
    "f9cAD+JMi^r2`Fi4_Yyfr;7dJ548xh<j!Oc#RUZfUCZeb)o*vUw4wMcFwB)b^NrxDyP!Dk#K7bcZ#fn+x$@xvXA<W7s^"
    "E<*BIM)ElXdnEY0gJfOO$d1(hy^JLQcQckRSS<GtmU|h?7ZH3(f-"
    "gH*E>4ed+{ZYAa6jXCz~cA{;dqd7d=<e%5`4|UajB6`6i6OsBu(&jM)D1d<Pk#hO-"
    "Ax4f^SLin1kdZMei<<>|-P$*w0A5ZIOJ3kbIYsd=J6n5<KCY9l9a<LIt8H8BsHQpAkJ}5gi~zKVU>ZMDQaCo-"
    "Sl3MTFtU4Dk~S@l%3$h9QO#9F*W$hx95Vhs#kx_-Bl!1%A$Gp0j9vL1=!-"
    "Xnuv@c?o{a(zZv@b2x2((+4kj=>k#UMX%_(<i96QoVeaitBPy;n)b-MR)rz-"
    "2kwX8#&F5N<<0b{Y4VE)en*S)fhPobi4yAy($YRSGzf<!_<c;4$uh^6WZ4rlQn*TP_P`$sm8(5+jQuhQM<jR|!7J2^34"
    "e4TO%-"
    "=Hf9ixki{;7yyeh$Kbg|R52d`Tp>FQ>);ej{U%2a!_m<oTfZnHl<@MfW1`Rf3@CBad)^OHT{SU%VBA09Z4*M9jRygdMa"
    "li=?;`WWdu;2)!uGIBHDMx_ne%umigy%sMu7{CqIJB<2Wv7GGX{~AK@ZwdaBYv>TCRm2ZJ^~NDwJIUEGYO^>;m{({P8}"
    "KHUQjlzQJ#DS^T+e7fd_?21qc3eGaVF>J8udc+h=w&9S<$sbI)(Scw${KHGNT@$ATbcx1h12nDjU<lY#~xG(1k0ZL7Ls"
    "R)}@ot%^$jkkggIB1Iu4IljMneOb?a93P)GIxUsEuNeKp4?HFE>u72ck;-"
    "LS?qjQO5#W)U@IUV@gTEmle@WAo6BSd@m&du{lMo$?>d!<v`-"
    "`2XUl<=<?gnp{OapT<&PC`FWs{X;@;pOBc9?re0`nE~LKUhlqjq0sS$Vv3~-"
    "y2;$3H_#0^h=C?=v2g?=szqSFPnsZbE*3I*rz&OJ0_tYE<OLBr13Y-dtt*Q^jk{TCr5t-"
    "f2_p+@Y#>gy(@{QIk&vJvku>=8`D#ju#l@qxFpU$SyO_GC~4;$4vk;`tAq<UC0zQJmo)qm_5J^6{XpsZc+)2iI^UAR<L"
    "6(MZ3ku!f+g<1LZR)LRxxwmo<rl;zbauV=K&YMW}&3~XC4I0$1~#WvuDw7;Kue5;C$d>xLBCD{xYI@*F6g>ClmkXlH)&"
    "-`d_RcJ_Yli_i)z6r(c`Q{I{Hf`De#5>f`xs%9@GIf1%Z$@cainMDe*ji7Urn|MLX@NCQrXZmL-gci>wT^6jsz#oJmNC"
    "TO5B)Yueg2?fJJpD!5lhy0D<U}HGc6bOV{0{);s820;Gnwmqz<+a%jEne)yOI^B%*@92|Ys#!5=lu8BJlg&OGRJ{j<Pk"
    "=DvEfPVFA?<)lAU&vqBj?w$NnNP+rd*kLnwX$;o<f!zS04|eTKljJMdV07w*K?&E&8?9&2C0PV6oo>*uld&ew^pIgP^x"
    "c&xo^bz*n(*x<=~uB+s*O+41#F>>SOu^}F7@AkOyR&m&79&7K^I9(na=CSsUiqoCNVOw~ty+^2WVDICxzQ&UWSI_3bzL"
    "N*vS_CdiEqi0ZDOdC0qTI4~1Wxd-"
    "B5+Z1*|%{gxbAcwT$Ek*{n!cKTLcb`mDWyhO$`q&$}jsa$c?!OT$Et;t&1D;89cZs!|b~dH)b1nl<I5W9OgOaxmFlw+v"
    "*VA?(_4TT=^o~H%`u<m$7dmg?+X8X3b6h2Sk`Ucch8y5U08srk*~}p8X%ZB{pF"
)
OLD = _content(
    "c-noI37p(i9mi*8x6?K~D5X}x3&mq9TIb%`3Y`k20|XYDqQ+y4+05HbFguxF^0Ms~M^|CD-GX=@AS&K~iU(eJ09tRicp"
    "rF!CyG+=0F;mQT|3=b0+~%VdCC9#{{Q#h|M&jWnFE^t;8i;wIPt=3&Od(hbmrVU2iUcXRL)$NN~JnsKm#Z6tw|C_UeHF"
    "GePFI(Z+wqZpID^b^6WM;`%R5C(y0!yB5yB=Fwn(d&RoVCBR2>smgyODfIWF_imX0p4su4&9>;QhFpgQD4(rAz4rRSW+"
    "IeA%grv3IbEt;YCIe~7nh09NN5<t%135FxnsyU!+@%<FXb?K?W-"
    "F$iA8A%dMq|%!S(LP+Ahafn8kXg9=5p>3`_djK$VwA!hacE<mu%Fq++54P87|c-"
    "weoOnxLhh%s#qa>cRDdv>X{J=ZKs~n(|TqWtMrVXp2g}p;nNz5wFZt6(T#d`gmo_K)y=v~sQKDZwT5Hem3o@d)(hGUj^"
    "mdNlJqEwjRqbackvi=B{Q`q2(?=_wQ;<7e}c&xQ+R9_j}t*HOwi-"
    "?bQDFS!r!1n@q{j(sOEv%l;FfJo|My5T|7A_yo@O6;G~CoS<MgCDwSfPil-<qpUS-"
    "4v`KpRG>WGiki$v#bS!&v9Gj9LwNh!AVekxB4&2GTfqSMLxMxY=W{PJU$ct5^fK~()k{ufws#eP=DrTw2EK6oZGOH9r2"
    "5PaM?qWFSo|NogwOY*Autf#=oJB#NLUF2rt!`pqL&KF~u~<f38E#W^_*{NDO#)7**lyqqH!+G@zEY|&zzzjyD8QNga+U"
    ";~O`#h&Cyve4JQ?lKp0LKlAnrssw~3K1&dZq@o=73iZ`5zRf*)6k$sT2^CBn`|{jPa_9BS0>zVFuCHtsul7KT_GgfVtC"
    "ww^I{`5pPowg|q=B&$UndkPmc>X+=jy>b19i^L?`6VZ5RxA43<a|O>sdyhB4@*K~f6R*dDkl2ok7mSD*bnFg|LwnRGFy"
    "}<jEpKd$WptZ*qV<Jy!ppHZA}zdV#N5a~Ar6boCoQYbkrzv8@!B4<^(_|aOOA$`T^N=K%_d%&<3mVdJC+OHaT(p};$<="
    "cF0h!}uysu?TWVVqUK^v0lsZIYqjp4CClQ<`TD^{J;e&5S)FPdL1xoakxr(PH&mW69&SY&&Ps=thvXr|RpEFP3P2+?zs"
    "^!?e2+*Uh*A}*L<%n7W&Z6_0xbSGdu}FRqBB3P2%O6JOdS7Vplh=8<SSXh<p;lX4t+s$)I&!svA~X=~7Y}qFVgr+6;3h"
    "q?JHqZJ_T(PQX1_|IQqAWv#n@TK-pkp8Gq{MeUm@9DidPzV)gzftEAv<HWLccy>HHd*)fY>|B@{CTW{H^e7T;<j>}z7b"
    "@=1yLX+hxkw0y2V;i`p7sfq(iHZJ9EW@d01ck{KfkIN}uXW;ey#3@R8#5XJ<77K+U-"
    "l&LgQp7iN;#(x~trTxF@b*69>8>62h*vBjmh+_|u2jT#DB@L|_)bZD7sa~`T-"
    "`_9#rN1A@;ys+rdrG6y$bn0g?v9pen28WNbw;9*YqLJY99q&yBIjkm}Mrv*D2tK74Rb*_)!VGp5kK$KHdjBhwb(~;wSn"
    "AeYnhtpH##f6!BA>_-RS}48>;+e6EjprtOdQh&T2Thbk4eN#OH}_ytA$A}4-"
    "H5^tio*}yIRb1iCtLbXTza^Fyv^LZ9NzM`lH74@r}`ZY=YI>k2(d^2&&C>2T-"
    "w(WmQnSWcEe}|jTOY=h%w;K3vpHtg|m}zFurSC17j504JzOR@+P|P24=8q)v#}q#?@Kc#MleQnT#Q9klx8=+<S9bh7r>"
    "D>U-;pCn4rGN6ruUCD>h~*6<lD=^Yw-(*i5wH;NF!~2qv4lg8##D$3cnIy-=<!>fM3tzHwJ#|SQZy1)?`_l6HG8&-"
    "=pF7p4K+%hvm&I?lAB>ir))oBK)DxG9s-0`(qP-"
    "(g*Ar{Mo>rLXbrE<1cD_M#to&Y51$u1~Tb61b3;|@=?RzdNthNXK=TH!?OP2yVyMoX~Z5h+{@HwU>5(F!9NZBD;A&e>I"
    "?sV81dyV7YfaGU_}cvbze?#g@Ywlg5EFD59kBDPWjIq#eWSv$jjd*FS!$H#B@?Qnn}{nfuyxIn3NUElFGbnQi-"
    ")ZDNR=-"
    ")j=zhG)GG+cvdBe^6DgAU6Uk@Ym>^$W0Ll|bxDQZu}KNNJ}IS+OA@^eWOG_A;p^_Xx1Le=+b^Bp+FpOdP1)4qW4g{R+t"
    "?pFr`dV+w#<_Ei=IzOC$tCaFW$n>emj<;Oa334pFcIT=xutDeXl+JNOzpT&!b-4Qcov(+UND6<8WU)xBWjOsQiT"
)
# fmt: on
