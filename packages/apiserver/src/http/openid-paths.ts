/** Where others learn how to check tokens of service accounts (OpenID Connect Discovery). */
export const openIdPaths = ['/.well-known/openid-configuration', '/openid/v1/jwks'] as const
