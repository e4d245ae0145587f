/** The release. The bundle is one file without a package.json beside it, so that the number is written here. */
export const version = '0.1.0';
