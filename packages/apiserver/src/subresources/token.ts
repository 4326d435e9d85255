import {
  badRequest,
  conflict,
  type FieldError,
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
      const { object, warnings } = decodeBody(tokenRequestKind, body, options.fieldValidation, () => false)
      const account = (await accounts.current(namespace, name))?.object
      if (account === undefined) throw notFound(accounts.definition, name)
      checkNames(object.metadata, namespace, name)
      const nowMs = clock.now()
      const completed = complete(object as TokenRequest, account, formatTime(nowMs))
      const admitted = (await accounts.admitPosted(context, namespace, name, {
        operation: 'CREATE',
        subresource: 'token',
        kind: tokenRequestKind,
        object: completed,
        options,
        check: (request) => checkExpiration(request as TokenRequest),
      })) as TokenRequest
      const { spec } = admitted
      const seconds = spec.expirationSeconds ?? tokenRequestSecondsDefault
      const bound = spec.boundObjectRef && (await boundTo(registries, namespace, name, spec.boundObjectRef))
      const subject: TokenSubject = { namespace, account: namedBy(account), ...bound }
      const token = await tokens.issue(subject, spec.audiences, nowMs, seconds)
      const status = { token, expirationTimestamp: formatTime(nowMs + seconds * 1000) }
      return { code: 201, value: { ...admitted, status }, warnings }
    },
  }
}

/** The request with what the path and the server say where it says nothing itself. */
function complete(request: TokenRequest, account: KubernetesObject, creationTimestamp: string): TokenRequest {
  const { name, namespace } = account.metadata
  const { status: _, ...asked } = request
  const { audiences = [] } = asked.spec ?? {}
  return {
    ...asked,
    metadata: {
      ...asked.metadata,
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp,
    },
    spec: { ...asked.spec, audiences: audiences.length === 0 ? [apiAudience] : audiences },
  }
}

function checkNames(given: KubernetesObject['metadata'], namespace: string, name: string): void {
  const path = FieldPath.of('metadata')
  const errors: FieldError[] = []
  if (given.name && given.name !== name) {
    errors.push(invalidField(path.field('name'), given.name, 'must match the service account name if specified'))
  }
  if (given.namespace && given.namespace !== namespace) {
    const rule = 'must match the service account namespace if specified'
    errors.push(invalidField(path.field('namespace'), given.namespace, rule))
  }
  if (errors.length > 0) throw invalid(tokenRequestKind, name, errors)
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
