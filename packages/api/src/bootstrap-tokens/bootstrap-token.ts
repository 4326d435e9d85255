import type { Secret } from '../kinds/index.ts'
import { parseTime } from '../time.ts'

/**
 * Tokens with which machines join a cluster: Secrets of a type of their own in kube-system.
 * https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens
 */
export interface BootstrapToken {
  /** Public: what the token is called. */
  readonly id: string
  readonly secret: string
  readonly description: string
  /** Epoch milliseconds; undefined: it has no end. `-Infinity` where the Secret says none that can be read: it counts as over. */
  readonly expiresAtMs: number | undefined
  /** Whether it is a bearer token, and whether the cluster's address and authority are signed with it. */
  readonly authenticates: boolean
  readonly signs: boolean
  /** Groups that who shows it is in, beside that of all. Undefined where the Secret names one that it may not. */
  readonly extraGroups: readonly string[] | undefined
}

export const bootstrapTokenType = 'bootstrap.kubernetes.io/token'
export const bootstrapTokenNamespace = 'kube-system'
/** What names of Secrets begin with; the id follows. */
export const bootstrapTokenPrefix = 'bootstrap-token-'
export const bootstrapUserPrefix = 'system:bootstrap:'
export const bootstrappersGroup = 'system:bootstrappers'
/** What kubeadm's tokens for nodes are in, and what roles are bound to. */
export const nodeBootstrappersGroup = 'system:bootstrappers:kubeadm:default-node-token'

/** The two parts of a token, `abcdef.0123456789abcdef`; undefined for what is none. */
export function parseBootstrapToken(text: string): Pick<BootstrapToken, 'id' | 'secret'> | undefined {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/** Whether a token may put who shows it into this group. */
export const isBootstrapGroup = (group: string): boolean => groupPattern.test(group)

/** The token that a Secret is; undefined where it is none, or its name is another one's. */
export function bootstrapTokenOf({ metadata, type, data }: Secret): BootstrapToken | undefined {
  const textAt = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString()
  const [id, secret] = [textAt('token-id'), textAt('token-secret')]
  if (type !== bootstrapTokenType || id === '' || secret === '') return undefined
  if (metadata.name !== `${bootstrapTokenPrefix}${id}`) return undefined
  const expiration = textAt('expiration')
  const groups = textAt('auth-extra-groups')
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '')
  return {
    id,
    secret,
    description: textAt('description'),
    expiresAtMs: expiration === '' ? undefined : endOf(expiration),
    authenticates: textAt('usage-bootstrap-authentication') === 'true',
    signs: textAt('usage-bootstrap-signing') === 'true',
    extraGroups: groups.every(isBootstrapGroup) ? groups : undefined,
  }
}

function endOf(expiration: string): number {
  const ms = parseTime(expiration)
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms
}

/** Whether a token is over. */
export const hasExpired = ({ expiresAtMs }: BootstrapToken, nowMs: number): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= nowMs

/** The Secret that a token is kept as. `expiration` is a time in RFC 3339. */
export function bootstrapTokenSecret(token: {
  readonly id: string
  readonly secret: string
  readonly description?: string
  readonly expiration?: string
  readonly usages: readonly string[]
  readonly groups: readonly string[]
}): Secret {
  const { id, secret, description = '', expiration = '', usages, groups } = token
  const values = {
    ...(groups.length === 0 ? {} : { 'auth-extra-groups': groups.join(',') }),
    ...(description === '' ? {} : { description }),
    ...(expiration === '' ? {} : { expiration }),
    'token-id': id,
    'token-secret': secret,
    ...Object.fromEntries(usages.map((usage) => [`usage-bootstrap-${usage}`, 'true'])),
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: bootstrapTokenNamespace, name: `${bootstrapTokenPrefix}${id}` },
    type: bootstrapTokenType,
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  } as Secret
}
