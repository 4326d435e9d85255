import {
  bootstrapTokenOf,
  type ConfigMap,
  clusterInfo,
  configMaps,
  detachedSignature,
  hasExpired,
  type Secret,
} from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'

/** Signs what says which cluster this is with each token that is for that, and removes signatures of tokens that are gone. Pure. */
export function planSignatures(info: ConfigMap, secrets: readonly Secret[], nowMs: Time): Plan<never> {
  const { data = {} } = info
  const content = data[clusterInfo.key]
  if (content === undefined) return { actions: [] }
  const signatures = secrets
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((secret): [string, string][] => {
      const token = bootstrapTokenOf(secret)
      if (token === undefined || !token.signs || hasExpired(token, nowMs)) return []
      return [[`${clusterInfo.signaturePrefix}${token.id}`, detachedSignature(content, token.id, token.secret)]]
    })
  const rest = Object.entries(data).filter(([key]) => !key.startsWith(clusterInfo.signaturePrefix))
  const wanted = Object.fromEntries([...rest, ...signatures])
  const isSame =
    Object.keys(wanted).length === Object.keys(data).length &&
    Object.entries(wanted).every(([key, value]) => data[key] === value)
  if (isSame) return { actions: [] }
  const object: ConfigMap = { ...info, data: wanted }
  const because = 'its signatures are not those of the bootstrap tokens there are'
  return { actions: [{ type: 'update', resource: configMaps, object, because }] }
}
