"""The names that sources give to quantities, by quantity.

A quantity is what ``naming`` places on a level: "temperature", "u", "precipitation", or the name
of a variable that has one level of its own.
"""

SHORT: dict[str, str] = {
    "temperature": "t ta temp temperature tmp air_temperature airtemp air tair",
    "temperature@2": "2t t2m t2 tas t_2m tmp2m tmp_2m temp2m temperature_2m tmp_2maboveground "
    "air_temperature_2m 2m_air_temperature temp_2m temperature_2m_above_ground",
    "maximum_temperature": "mx2t mx2t3 mx2t6 tmax tasmax maximum_temperature_2m mx2t24 tmax_2m",
    "minimum_temperature": "mn2t mn2t3 mn2t6 tmin tasmin minimum_temperature_2m mn2t24 tmin_2m",
    "dewpoint": "dpt dewpoint dew_point_temperature dew_point",
    "dewpoint@2": "2d d2m td2m td_2m tdps dpt_2m dpt2m dewpoint_temperature_2m "
    "dew_point_temperature_2m 2m_dew_point_temperature",
    "skin_temperature": "skt ts skin_temperature tsk surface_temperature",
    "sea_surface_temperature": "sst tos sea_surface_temperature",
    "u": "u ua ugrd u_wind uwnd u_component_of_wind wind_u eastward_wind ucomp",
    "v": "v va vgrd v_wind vwnd v_component_of_wind wind_v northward_wind vcomp",
    "u@10": "10u u10 u10m uas wind_u_10m u_10m ugrd10m ugrd_10m ugrd_10maboveground "
    "eastward_wind_10m u_component_of_wind_10m 10m_u_wind",
    "v@10": "10v v10 v10m vas wind_v_10m v_10m vgrd10m vgrd_10m vgrd_10maboveground "
    "northward_wind_10m v_component_of_wind_10m 10m_v_wind",
    "u@100": "100u u100 u100m wind_u_100m u_100m ugrd_100m",
    "v@100": "100v v100 v100m wind_v_100m v_100m vgrd_100m",
    "wind_speed": "ws wind_speed wind windspeed",
    "wind_speed@10": "10si si10 ws10 ws10m sfcwind wind_speed_10m wspd10m wspd_10m",
    "wind_speed@100": "100si si100 ws100 wind_speed_100m",
    "gust": "gust 10fg fg10 i10fg 10fg3 10fg6 gfg10 wind_gust wind_gust_10m wind_gust_surface "
    "max_10m_wind_gust fg310 10m_wind_gust_since_previous_post_processing sfcwindmax",
    "vertical_velocity": "w wap omega vvel vertical_velocity lagrangian_tendency_of_air_pressure",
    "geopotential": "z gh zg hgt geopotential geopotential_height phi height",
    "specific_humidity": "q hus spfh qv specific_humidity shum",
    "specific_humidity@2": "2sh sh2 huss q2m q_2m spfh_2m specific_humidity_2m",
    "relative_humidity": "r rh hur relhum relative_humidity rhum",
    "relative_humidity@2": "2r r2 rh2m hurs rh_2m relative_humidity_2m",
    "potential_vorticity": "pv potential_vorticity pvort",
    "mean_sea_level_pressure": "msl prmsl psl mslp mslet mslma pmsl slp meansea pressure_msl "
    "pressure_reduced_to_mean_sea_level mean_sea_level_pressure air_pressure_at_mean_sea_level",
    "surface_pressure": "sp ps psfc pres_sfc pressure_surface surface_pressure sfcpres",
    "precipitation": "tp apcp tpr pr precip precipitation total_precipitation prate mtpr tprate "
    "tprec rain precipitation_surface apcp_surface tp_surface prate_surface "
    "total_precipitation_surface mean_total_precipitation_rate avg_tprate total_precipitation_rate "
    "precipitation_amount precipitation_rate acpcp_total",
    "convective_precipitation_rate": "cprat cpr crr",
    "total_cloud_cover": "tcc tcdc clt total_cloud_cover total_cloud_cover_atmosphere "
    "cloud_area_fraction",
    "low_cloud_cover": "lcc lcdc cll low_cloud_cover",
    "medium_cloud_cover": "mcc mcdc clm medium_cloud_cover",
    "high_cloud_cover": "hcc hcdc clh high_cloud_cover",
    # ECMWF's sd is the water in the snow, not its depth.
    "snow_depth": "sde snod snd snow_depth_m",
    "sea_ice_cover": "ci siconc sic icec sea_ice_cover sea_ice_area_fraction",
    "convective_available_potential_energy": "cape mucape sbcape mlcape",
    "convective_inhibition": "cin",
    "total_column_water_vapour": "tcwv pwat prw precipitable_water precipitable_water_atmosphere",
    "visibility": "vis visibility visibility_surface",
    "boundary_layer_height": "blh hpbl boundary_layer_height",
    "mean_surface_downward_short_wave_radiation_flux": "sdswrf avg_sdswrf msdwswrf dswrf rsds "
    "downward_short_wave_radiation_flux_surface",
    "mean_surface_net_long_wave_radiation_flux": "msnlwrf avg_snlwrf nlwrs nlwrf rls",
}
"""Short names by quantity; ``@`` is the height in m that the name says."""

STANDARD: dict[str, str] = {
    "air_temperature": "temperature",
    "dew_point_temperature": "dewpoint",
    "surface_temperature": "skin_temperature",
    "sea_surface_temperature": "sea_surface_temperature",
    "eastward_wind": "u",
    "northward_wind": "v",
    "x_wind": "u",
    "y_wind": "v",
    "grid_eastward_wind": "u",
    "grid_northward_wind": "v",
    "wind_speed": "wind_speed",
    "wind_speed_of_gust": "gust",
    "lagrangian_tendency_of_air_pressure": "vertical_velocity",
    "geopotential": "geopotential",
    "geopotential_height": "geopotential",
    "specific_humidity": "specific_humidity",
    "relative_humidity": "relative_humidity",
    "ertel_potential_vorticity": "potential_vorticity",
    "air_pressure_at_mean_sea_level": "mean_sea_level_pressure",
    "air_pressure_at_sea_level": "mean_sea_level_pressure",
    "surface_air_pressure": "surface_pressure",
    "precipitation_amount": "precipitation",
    "lwe_thickness_of_precipitation_amount": "precipitation",
    "precipitation_flux": "precipitation",
    "lwe_precipitation_rate": "precipitation",
    "cloud_area_fraction": "total_cloud_cover",
    "low_type_cloud_area_fraction": "low_cloud_cover",
    "medium_type_cloud_area_fraction": "medium_cloud_cover",
    "high_type_cloud_area_fraction": "high_cloud_cover",
    "surface_snow_thickness": "snow_depth",
    "sea_ice_area_fraction": "sea_ice_cover",
    "atmosphere_convective_available_potential_energy": "convective_available_potential_energy",
    "atmosphere_convective_available_potential_energy_wrt_surface": (
        "convective_available_potential_energy"
    ),
    "atmosphere_mass_content_of_water_vapor": "total_column_water_vapour",
    "visibility_in_air": "visibility",
    "atmosphere_boundary_layer_thickness": "boundary_layer_height",
    "surface_downwelling_shortwave_flux_in_air": "mean_surface_downward_short_wave_radiation_flux",
    "surface_net_downward_longwave_flux": "mean_surface_net_long_wave_radiation_flux",
}
AXES = {
    "x_wind": "grid",
    "y_wind": "grid",
    "grid_eastward_wind": "grid",
    "grid_northward_wind": "grid",
    "eastward_wind": "earth",
    "northward_wind": "earth",
}

PARAM: dict[int, str] = {
    129: "geopotential",
    156: "geopotential",
    130: "temperature",
    131: "u",
    132: "v",
    133: "specific_humidity",
    157: "relative_humidity",
    135: "vertical_velocity",
    60: "potential_vorticity",
    10: "wind_speed",
    134: "surface_pressure",
    151: "mean_sea_level_pressure",
    165: "u@10",
    166: "v@10",
    167: "temperature@2",
    168: "dewpoint@2",
    207: "wind_speed@10",
    201: "maximum_temperature",
    202: "minimum_temperature",
    49: "gust",
    34: "sea_surface_temperature",
    235: "skin_temperature",
    31: "sea_ice_cover",
    164: "total_cloud_cover",
    186: "low_cloud_cover",
    187: "medium_cloud_cover",
    188: "high_cloud_cover",
    228: "precipitation",
    228228: "precipitation",
    260048: "precipitation",
    235055: "precipitation",
    260242: "relative_humidity@2",
    228246: "u@100",
    228247: "v@100",
    59: "convective_available_potential_energy",
    137: "total_column_water_vapour",
    3066: "snow_depth",
    260074: "mean_sea_level_pressure",
    159: "boundary_layer_height",
    3020: "visibility",
}
"""ECMWF's parameter numbers (codes.ecmwf.int/grib/param-db)."""

LONG: dict[str, str] = {
    "2 metre temperature": "temperature@2",
    "2 meter temperature": "temperature@2",
    "2 metre dewpoint temperature": "dewpoint@2",
    "10 metre u wind component": "u@10",
    "10 metre v wind component": "v@10",
    "100 metre u wind component": "u@100",
    "100 metre v wind component": "v@100",
    "mean sea level pressure": "mean_sea_level_pressure",
    "pressure reduced to msl": "mean_sea_level_pressure",
    "surface pressure": "surface_pressure",
    "total precipitation": "precipitation",
    "total precipitation rate": "precipitation",
    "precipitation rate": "precipitation",
    "total cloud cover": "total_cloud_cover",
    "snow depth": "",  # depth in one model, water in another
    "temperature": "temperature",
    "geopotential": "geopotential",
    "geopotential height": "geopotential",
    "u component of wind": "u",
    "v component of wind": "v",
    "specific humidity": "specific_humidity",
    "relative humidity": "relative_humidity",
    "vertical velocity": "vertical_velocity",
}

BY_SHORT: dict[str, str] = {
    name: quantity for quantity, names in SHORT.items() for name in names.split()
}
