import { type KubernetesObject, type Pod, podReferences, type ServiceAccount, serviceAccounts } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../../registries.ts'
import { mirrorAnnotation } from '../../security/node-identity.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmissionTarget } from '../admission.ts'
import { forbiddenByAdmission } from '../forbidden.ts'
import { type AdmittedPod, createsPod, withSpec } from '../pods.ts'
import { storedObject } from '../stored-objects.ts'
import { AccountArrivals } from './account-arrivals.ts'
import { containerSecretsProblem, limitsSecrets, podSecretsProblem } from './mountable-secrets.ts'
import { withTokenVolume } from './token-volume.ts'

/** What pods run as that name no service account. */
const defaultAccountName = 'default'

/** The volumes with tokens that pods get without naming them. */
export interface TokenVolumes {
  /** Whether a pod that is created now gets one though nothing says that it calls the API. */
  areForAll(): boolean
  /** Makes the end of a volume's name. */
  newSuffix(): string
}

/**
 * Pods that name no service account run as `default`, the account has to exist, and those that name no secrets to pull images with
 * have those of their account. An account may limit the secrets that its pods name. Where there are `tokenVolumes`, containers that may
 * call the API have a token of their account where client libraries look for it.
 */
export function serviceAccount(
  registries: Registries,
  clock: Clock,
  tokenVolumes: TokenVolumes | undefined,
): AdmissionPlugin {
  const arrivals = new AccountArrivals(registries, clock)

  /** The account at once where this server knows it, as nearly always. */
  const accountOf = (
    attributes: AdmissionAttributes,
    pod: Pod,
    name: string,
  ): ServiceAccount | Promise<ServiceAccount> =>
    storedObject<ServiceAccount>(registries, serviceAccounts, name, attributes.namespace) ??
    arrivals.find(attributes.namespace, name, name === defaultAccountName).then((account) => {
      if (account !== undefined) return account
      const why = `serviceaccount ${JSON.stringify(name)} not found`
      throw forbiddenByAdmission(
        attributes,
        pod,
        `error looking up service account ${attributes.namespace}/${name}: ${why}`,
      )
    })

  const judge = (attributes: AdmissionAttributes, pod: Pod, account: ServiceAccount): void => {
    if (!limitsSecrets(account)) return
    const problem = attributes.subresource === '' ? podSecretsProblem(pod, account) : ephemeralProblem(pod, account)
    if (problem !== undefined) throw forbiddenByAdmission(attributes, pod, problem)
  }

  return {
    name: 'ServiceAccount',
    concerns: (target) => createsPod(target) || addsEphemeralContainers(target),
    mutate(attributes, object) {
      if (!createsPod(attributes)) return object
      const pod = object as Pod
      // What a node runs without the API is shown there as it is.
      if (isMirror(pod)) {
        judgeMirror(attributes, pod)
        return object
      }
      const name = pod.spec.serviceAccountName || defaultAccountName
      const completed = (account: ServiceAccount): KubernetesObject => {
        const own = withPullSecrets(withAccount(pod as AdmittedPod, name), account)
        const isWanted = tokenVolumes !== undefined && (tokenVolumes.areForAll() || mayCallApi(pod, account))
        const changed = isWanted ? withTokenVolume(own as Pod, account, tokenVolumes.newSuffix) : own
        judge(attributes, changed as Pod, account)
        return changed
      }
      const account = accountOf(attributes, pod, name)
      return account instanceof Promise ? account.then(completed) : completed(account)
    },
    validate(attributes, object) {
      const isCreated = createsPod(attributes)
      if (object === undefined) return
      const pod = object as Pod
      if (isCreated && isMirror(pod)) return judgeMirror(attributes, pod)
      const name = pod.spec.serviceAccountName
      if (!name) {
        const key = `${attributes.namespace}/${pod.metadata.name ?? ''}`
        throw forbiddenByAdmission(attributes, pod, `no service account specified for pod ${key}`)
      }
      const account = accountOf(attributes, pod, name)
      if (account instanceof Promise) return account.then((found) => judge(attributes, pod, found))
      judge(attributes, pod, account)
    },
  }
}

/** Accounts of their own, and wishes for a token, are for programs that call the API: what runs as `default` seldom does. */
const mayCallApi = ({ spec }: Pod, { metadata, automountServiceAccountToken }: ServiceAccount): boolean =>
  metadata.name !== defaultAccountName || (spec.automountServiceAccountToken ?? automountServiceAccountToken) === true

const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[mirrorAnnotation] !== undefined

function addsEphemeralContainers({ operation, definition, subresource }: AdmissionTarget): boolean {
  const { group, plural } = definition
  return operation === 'UPDATE' && subresource === 'ephemeralcontainers' && plural === 'pods' && group === ''
}

function judgeMirror(attributes: AdmissionAttributes, pod: Pod): void {
  const problem = mirrorProblem(pod)
  if (problem !== undefined) throw forbiddenByAdmission(attributes, pod, problem)
}

/** A node has to read nothing of the API for a mirror pod. */
function mirrorProblem(pod: Pod): string | undefined {
  if (pod.spec.serviceAccountName) return 'a mirror pod may not reference service accounts'
  if (podReferences(pod).some(({ plural }) => plural === 'secrets')) return 'a mirror pod may not reference secrets'
  const sources = pod.spec.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? []
  if (sources.every(({ serviceAccountToken }) => serviceAccountToken === undefined)) return undefined
  return 'a mirror pod may not use ServiceAccountToken volume projections'
}

const ephemeralProblem = ({ spec }: Pod, account: ServiceAccount): string | undefined =>
  containerSecretsProblem('ephemeral container', spec.ephemeralContainers, account)

function withAccount(pod: AdmittedPod, name: string): AdmittedPod {
  if (pod.spec.serviceAccountName === name) return pod
  // `serviceAccount` is the older name of the same field; both are always there in stored pods.
  return withSpec(pod, { serviceAccountName: name, serviceAccount: name }) as AdmittedPod
}

function withPullSecrets(pod: AdmittedPod, { imagePullSecrets = [] }: ServiceAccount): KubernetesObject {
  const { imagePullSecrets: own = [] } = pod.spec
  return own.length > 0 || imagePullSecrets.length === 0 ? pod : withSpec(pod, { imagePullSecrets })
}
