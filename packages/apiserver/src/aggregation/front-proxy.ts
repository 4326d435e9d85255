/** The name by which servers behind this one know it: whoever shows a certificate of that name may say for whom it asks. */
export const frontProxyUser = 'front-proxy-client'
