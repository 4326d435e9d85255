import type { Pod, ServiceAccount } from '@coracle/api'

/** What says that pods of an account may name those secrets alone that the account names. */
const limitAnnotation = 'kubernetes.io/enforce-mountable-secrets'

/** What Go's strconv.ParseBool takes for true. */
const trueTexts = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

/** Whether pods of this account may name those secrets alone that the account names. */
export function limitsSecrets({ metadata }: ServiceAccount): boolean {
  const text = metadata.annotations?.[limitAnnotation]
  return text !== undefined && trueTexts.has(text)
}

/** The first secret that a pod names and its account does not, as upstream tells of it; undefined where there is none. */
export function podSecretsProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  const allowed = secretNames(account)
  for (const { secret } of spec.volumes ?? []) {
    if (secret === undefined || allowed.has(secret.secretName)) continue
    return `volume with secret.secretName="${secret.secretName ?? ''}" ${notNamedBy(account, 'secret')}`
  }
  return (
    containerSecretsProblem('init container', spec.initContainers, account) ??
    containerSecretsProblem('container', spec.containers, account) ??
    pullSecretsProblem(spec, account)
  )
}

/** The same of the variables of some containers. */
export function containerSecretsProblem(
  what: 'init container' | 'container' | 'ephemeral container',
  containers: readonly Pick<Pod['spec']['containers'][number], 'name' | 'env' | 'envFrom'>[] = [],
  account: ServiceAccount,
): string | undefined {
  const allowed = secretNames(account)
  for (const { name: container, env = [], envFrom = [] } of containers) {
    const sources = [
      ...env.map(({ name, valueFrom }) => ({ via: `envVar ${name}`, reference: valueFrom?.secretKeyRef })),
      ...envFrom.map(({ secretRef }) => ({ via: 'envFrom', reference: secretRef })),
    ]
    for (const { via, reference } of sources) {
      if (reference === undefined || allowed.has(reference.name)) continue
      const secret = `secret.secretName="${reference.name ?? ''}"`
      return `${what} ${container} with ${via} referencing ${secret} ${notNamedBy(account, 'secret')}`
    }
  }
  return undefined
}

function pullSecretsProblem({ imagePullSecrets = [] }: Pod['spec'], account: ServiceAccount): string | undefined {
  const allowed = new Set(account.imagePullSecrets?.map(({ name }) => name))
  const index = imagePullSecrets.findIndex(({ name }) => !allowed.has(name))
  if (index < 0) return undefined
  const name = imagePullSecrets[index]?.name ?? ''
  return `imagePullSecrets[${index}].name="${name}" ${notNamedBy(account, 'imagePullSecret')}`
}

const secretNames = ({ secrets = [] }: ServiceAccount): ReadonlySet<string | undefined> =>
  new Set(secrets.map(({ name }) => name))

const notNamedBy = ({ metadata }: ServiceAccount, what: string): string =>
  `is not allowed because service account ${metadata.name} does not reference that ${what}`
