import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ServiceAccountTokens, serviceAccountIssuer } from '../service-account-tokens/service-account-tokens.ts'
import { openIdPaths } from './openid-paths.ts'
import { send } from './respond.ts'

/** Answers the documents of OpenID; undefined for any other path. */
export function handleOpenId(
  tokens: ServiceAccountTokens | undefined,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> | undefined {
  if (tokens === undefined) return undefined
  switch (path.replace(/\/$/, '')) {
    case openIdPaths[0]:
      return sendDocument(tokens, response, 'application/json', async (keys) => ({
        issuer: serviceAccountIssuer,
        jwks_uri: `https://${request.headers.host ?? 'kubernetes.default.svc'}${openIdPaths[1]}`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: [...new Set(keys.map(({ alg }) => alg))],
      }))
    case openIdPaths[1]:
      return sendDocument(tokens, response, 'application/jwk-set+json', async (keys) => ({ keys }))
    default:
      return undefined
  }
}

/** As upstream has it: keys change seldom, and are no secret. */
const cacheControl = 'public, max-age=3600'

type Keys = Awaited<ReturnType<ServiceAccountTokens['publicKeys']>>

async function sendDocument(
  tokens: ServiceAccountTokens,
  response: ServerResponse,
  mediaType: string,
  documentOf: (keys: Keys) => Promise<object>,
): Promise<void> {
  const document = await documentOf(await tokens.publicKeys())
  await send(response, 200, mediaType, Buffer.from(JSON.stringify(document)), [], cacheControl)
}
