import {
  badRequest,
  conflict,
  FieldPath,
  formatTime,
  invalid,
  invalidField,
  type KubernetesObject,
  notFound,
  type Pod,
  type TokenRequest,
  tokenRequestSchema,
  tokenRequestSecondsDefault,
} from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import { decodeBody } from '../registry/body.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { apiAudience, type ServiceAccountTokens } from '../service-account-tokens/service-account-tokens.ts'
import type { NamedObject, TokenSubject } from '../service-account-tokens/token-claims.ts'
import type { Subresource } from './subresource.ts'

const tokenRequestKind = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  schema: tokenRequestSchema,
}

/** `serviceaccounts/token`: gives a token of a service account, which is kept nowhere. */
export function tokenSubresource(
  accounts: ResourceRegistry,
  registries: Registries,
  { clock }: Environment,
  tokens: ServiceAccountTokens,
): Subresource {
  return {
    async create(context, namespace, name, body, options) {
      const decoding = { clock, definition: tokenRequestKind, fieldValidation: options.fieldValidation }
      const { object, warnings } = await decodeBody(body, decoding)
      const nowMs = clock.now()
      let subject: TokenSubject = { namespace, account: { name } }
      const admitted = (await accounts.admitPosted(context, namespace, name, {
        operation: 'CREATE',
        subresource: 'token',
        kind: tokenRequestKind,
        object,
        options,
        // Only who may have tokens at all is told whether there is such an account.
        async complete(request) {
          const account = (await accounts.current(namespace, name))?.object
          if (account === undefined) throw notFound(accounts.definition, name)
          checkIdentity(request.metadata, account, namespace, name)
          subject = { namespace, account: namedBy(account) }
          return complete(request as TokenRequest, account, formatTime(nowMs))
        },
        check: (request) => checkExpiration(request as TokenRequest),
      })) as TokenRequest
      const { spec } = admitted
      const seconds = spec.expirationSeconds ?? tokenRequestSecondsDefault
      const bound = spec.boundObjectRef && (await boundTo(registries, namespace, name, spec.boundObjectRef))
      const token = await tokens.issue({ ...subject, ...bound }, spec.audiences, nowMs, seconds)
      const status = { token, expirationTimestamp: formatTime(nowMs + seconds * 1000) }
      return { code: 201, value: { ...admitted, status }, warnings }
    },
  }
}

/** The request with what the path and the server say where it says nothing itself. */
function complete(request: TokenRequest, account: KubernetesObject, creationTimestamp: string): TokenRequest {
  const { name, namespace, uid } = account.metadata
  const { status: _, ...asked } = request
  const { audiences = [] } = asked.spec ?? {}
  return {
    ...asked,
    metadata: {
      ...asked.metadata,
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      creationTimestamp,
    },
    spec: { ...asked.spec, audiences: audiences.length === 0 ? [apiAudience] : audiences },
  }
}

/** Throws where a request says that it is for another account than the path. */
function checkIdentity(
  given: KubernetesObject['metadata'],
  { metadata: { uid } }: KubernetesObject,
  namespace: string,
  name: string,
): void {
  if (given.namespace && given.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (given.name && given.name !== name) {
    const rule = 'must match the service account name if specified'
    throw invalid(tokenRequestKind, name, [invalidField(FieldPath.of('metadata').field('name'), given.name, rule)])
  }
  if (given.uid && given.uid !== uid) {
    const why = `the UID in the token request (${given.uid}) does not match the UID of the service account (${uid})`
    throw conflict({ group: tokenRequestKind.group, plural: tokenRequestKind.kind }, name, why)
  }
}

const secondsMin = 600
const secondsMax = 2 ** 32

function checkExpiration({ spec }: TokenRequest): void {
  const seconds = spec.expirationSeconds ?? tokenRequestSecondsDefault
  const rule =
    seconds < secondsMin
      ? 'may not specify a duration less than 10 minutes'
      : seconds > secondsMax
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined
  if (rule === undefined) return
  throw invalid(tokenRequestKind, '', [invalidField(FieldPath.of('spec').field('expirationSeconds'), seconds, rule)])
}

type BoundReference = NonNullable<TokenRequest['spec']['boundObjectRef']>

/** What a token ends with beside its account; of a pod also where it is. */
async function boundTo(
  registries: Registries,
  namespace: string,
  account: string,
  { apiVersion = '', kind = '', name = '', uid }: BoundReference,
): Promise<Partial<TokenSubject>> {
  const find = async (plural: string, within: string) => {
    const registry = registries.byResource('', 'v1', plural)
    const found = (await registry?.current(within, name))?.object
    if (found === undefined) throw notFound({ group: '', plural }, name)
    if (uid !== undefined && uid !== '' && uid !== found.metadata.uid) {
      throw conflict(
        { group: '', plural: kind },
        name,
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      )
    }
    return found
  }
  switch (apiVersion === 'v1' ? kind : undefined) {
    case 'Pod': {
      const pod = (await find('pods', namespace)) as Pod
      if (pod.spec.serviceAccountName !== account) {
        throw badRequest(
          `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
        )
      }
      return { pod: namedBy(pod), ...nodeOf(pod, registries) }
    }
    case 'Secret':
      return { secret: namedBy(await find('secrets', namespace)) }
    case 'Node':
      return { node: namedBy(await find('nodes', '')) }
    default: {
      const [version = '', group = ''] = apiVersion.split('/').reverse()
      throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
    }
  }
}

/** The node a pod is on; of one that is gone only its name. */
function nodeOf({ spec }: Pod, registries: Registries): { readonly node?: NamedObject } {
  const { nodeName = '' } = spec
  if (nodeName === '') return {}
  const found = registries.byResource('', 'v1', 'nodes')?.peek('', nodeName)?.object
  return { node: found === undefined ? { name: nodeName } : namedBy(found) }
}

const namedBy = ({ metadata: { name = '', uid } }: KubernetesObject): NamedObject => ({
  name,
  ...(uid === undefined ? {} : { uid }),
})
