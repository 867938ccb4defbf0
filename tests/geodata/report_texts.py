"""Texts in the layout of National Weather Service products; the weather in them is invented."""

SHORT_RANGE = """000
FXUS01 KWBC 141958
PMDSPD

Short Range Forecast Discussion
NWS Weather Prediction Center College Park MD
358 PM EDT Wed Oct 14 2026

Valid 00Z Thu Oct 15 2026 - 00Z Sat Oct 17 2026

...Lake-effect snow to develop downwind of Lakes Erie and Ontario
Thursday night into Friday...

...There is a Slight Risk of excessive rainfall over parts of the
central Gulf Coast on Thursday...

...Much below normal temperatures across the northern Plains...

A deep low pressure system near Lake Huron will move northeast into
Quebec by Thursday evening, and its cold front will reach the East
Coast with 1-2 inches of rain. Winds of 25-35 kt are likely along
the front.

Behind it, cold low-
level air spreads over the Great Lakes, where 3 to 6 inches of snow
fall in the favored belts.

Testerson/Probe


Graphics available at
https://www.wpc.ncep.noaa.gov/basicwx/basicwx_ndfd.php

$$
"""

EXTENDED = """000
FXUS02 KWBC 140659
PMDEPD

Extended Forecast Discussion
NWS Weather Prediction Center College Park MD
259 AM EDT Wed Oct 14 2026

Valid 12Z Sat Oct 17 2026 - 12Z Wed Oct 21 2026

...Atmospheric river to bring heavy rain and mountain snow to the
Northwest early next week...


...Overview...

An upper ridge over the Intermountain West gives way to a trough.
The trough digs into the Southwest on Monday.

A cutoff low drifts near Bermuda.


...Guidance/Predictability Assessment...

The 00Z ECMWF is slower than the 06Z GFS by some 12 hours. A blend
of both was used...with more weight on the ensemble means late.


...Weather/Hazards Highlights...

Rain totals of 2 to 4 inches are possible along the Oregon coast.
Highs fall 10-15 degrees below average in Nevada.


Probe


Additional 3-7 Day Hazard information can be found on the
WPC medium range hazards outlook chart at:
https://www.wpc.ncep.noaa.gov/threats/threats.php

$$
"""

RAINFALL = """000
FOUS30 KWBC 140030
QPFERD

Excessive Rainfall Discussion
NWS Weather Prediction Center College Park MD
830 PM EDT Tue Oct 13 2026

Day 1
Valid 01Z Wed Oct 14 2026 - 12Z Wed Oct 14 2026

...THERE IS A MARGINAL RISK OF EXCESSIVE RAINFALL ACROSS THE
CENTRAL GULF COAST...

...Central Gulf Coast...
...01Z Update...
Slow cells near Mobile may give 2-3 inches in three hours.

...Southern Arizona...
Isolated storms end by 06Z.

...Previous Discussion...
Storms were to end by 03Z.

Probe

Day 2
Valid 12Z Wed Oct 14 2026 - 12Z Thu Oct 15 2026

The probability of rainfall exceeding flash flood guidance is less
than 5 percent.

Testerson

Day 1 threat area: www.wpc.ncep.noaa.gov/qpf/94epoints.txt
Day 2 threat area: www.wpc.ncep.noaa.gov/qpf/98epoints.txt

$$
"""

MODELS = """000
FXUS10 KWNH 131604
PMDHMD

MODEL DIAGNOSTIC DISCUSSION
HYDROMETEOROLOGICAL PREDICTION CENTER...NWS...CAMP SPRINGS MD
1204 PM EDT SUN JUN 13 2004

VALID JUN 13/1200 UTC THRU JUN 17/0000 UTC

...SEE NOUS42 KWNO (ADMNFD) FOR THE STATUS OF THE UPPER AIR
INGEST...

12Z MODEL EVALUATION...WITH PREFERENCES AND FORECAST CONFIDENCE

...TROUGH OVER THE WEST...
PREFERENCE: 12Z GFS
THE 12Z NAM IS FASTER THAN THE 00Z ECMWF...WHICH HAS BEEN STEADY.

...FRONT IN THE EAST...
THE 12Z GFS IS 6 HOURS SLOWER THAN THE 12Z NAM...BUT BOTH ARE WET.

PROBE

$$
"""

DAY_2 = """ZCZC SPCSWODY2 ALL
ACUS02 KWNS 301731
SWODY2
SPC AC 301730

DAY 2 CONVECTIVE OUTLOOK
NWS STORM PREDICTION CENTER NORMAN OK
1230 PM CDT FRI APR 30 2010

VALID 011200Z - 021200Z

...THERE IS A MDT RISK OF SVR TSTMS ACROSS PARTS OF THE LOWER MS
VALLEY...

...THERE IS A SLGT RISK OF SVR TSTMS FROM E TX TO THE OH VALLEY...

...SYNOPSIS...
A DEEP TROUGH WILL MOVE INTO THE PLAINS...WITH A STRONG CAP OVER TX
ERODING BY AFTERNOON.

...ARKLATEX INTO TN VALLEY...
MLCAPE OF 1500-2500 J/KG AND 50 KT OF SHEAR WILL FAVOR SUPERCELLS.
TORNADOES...SOME STRONG...ARE POSSIBLE.

..PROBE.. 04/30/2010

CLICK TO GET WUUS02 PTSDY2 PRODUCT

NOTE: THE NEXT DAY 2 OUTLOOK IS SCHEDULED BY 0600Z

$$
"""

DAY_3 = """000
ACUS03 KWNS 140729
SWODY3
SPC AC 140728

Day 3 Convective Outlook CORR 1
NWS Storm Prediction Center Norman OK
0228 AM CDT Wed Oct 14 2026

Valid 161200Z - 171200Z

...THERE IS A MARGINAL RISK OF SEVERE THUNDERSTORMS ACROSS PARTS OF
FLORIDA...

...SUMMARY...
A few strong storms are possible across south Florida on Friday.

...Southern and Central Plains into the Mid MS Valley and Midwest...
Dry air behind the front precludes storms.

...Florida...
Buoyancy stays limited, with MUCAPE below 500 J/kg.

...MAXIMUM RISK BY HAZARD...
Tornado:   2%     - Marginal
Wind:      5%     - Marginal

..Testerson/Probe.. 10/14/2026

$$
"""

OFFICE = """000
FXUS65 KXYZ 141031 CCA
AFDXYZ

Area Forecast Discussion...CORRECTED
National Weather Service Exampleville CO
431 AM MDT Wed Oct 14 2026

...UPDATED FOR 12Z AVIATION DISCUSSION...

.KEY MESSAGES...

 * Snow above 9,000 feet tonight, with 4 to
   8 inches by dawn.

 * Gusts to 55 mph along the
   foothills.

&&

.SHORT TERM /TODAY THROUGH 6 PM
THURSDAY/...
Issued at 425 AM MDT Wed Oct 14 2026

A trough crosses the state today. Snow levels fall to 8,500 ft.

TONIGHT...

Temperatures drop to -5C at 700 mb...colder than yesterday. The low-
level flow turns upslope.

.EVENING UPDATE...
Radar shows the first band over the San Juans.

Probe

.LONG TERM...(Friday through Tuesday)
Dry and mild. Highs in the 60s.

&&

.AVIATION...(12Z TAFS)
VFR until 03Z...then MVFR.

&&

.FIRE WEATHER...
Minimum RH near 20 percent.

&&

.HYDROLOGY...
Streams stay low.

&&

.CLIMATE...
The record low for today is 15, set in 1969.

.PRELIMINARY POINT TEMPS/POPS...
Exampleville  45  28  50  30 /  40  80  10   0
Otherville    40  22  44  25 /  60  90  20   0

&&

.XYZ WATCHES/WARNINGS/ADVISORIES...
Winter Weather Advisory from 6 PM this evening to 6 AM MDT Thursday
     for COZ001-002.
Red Flag Warning...None.

&&

$$

SHORT TERM...Probe
AVIATION...
WWW.WEATHER.GOV/XYZ
"""

OUTLOOK = """000
FLUS45 KXYZ 140930
HWOXYZ

HAZARDOUS WEATHER OUTLOOK
NATIONAL WEATHER SERVICE EXAMPLEVILLE CO
330 AM MDT WED OCT 14 2026

COZ001>003-011-150930-
NORTH VALLEY-SOUTH VALLEY-CENTRAL VALLEY-
HIGH COUNTRY-
330 AM MDT WED OCT 14 2026

...WINTER STORM WATCH IN EFFECT FROM THIS EVENING THROUGH THURSDAY
MORNING...

THIS OUTLOOK IS FOR NORTHERN COLORADO.

.DAY ONE...TODAY AND TONIGHT.

HEAVY SNOW IS POSSIBLE ABOVE 9000 FEET.

.DAYS TWO THROUGH SEVEN...THURSDAY THROUGH TUESDAY.

NO HAZARDOUS WEATHER IS EXPECTED.

.SPOTTER INFORMATION STATEMENT...

SPOTTERS NEED NOT REPORT.

$$

LMZ740-150930-
SOME NEARSHORE WATERS-
330 AM MDT WED OCT 14 2026

.DAY ONE...TODAY AND TONIGHT.

GALES ARE POSSIBLE ON THE WATER THIS AFTERNOON.

$$

PROBE
"""

ALL = (SHORT_RANGE, EXTENDED, RAINFALL, DAY_2, DAY_3, OFFICE, OUTLOOK, MODELS)
