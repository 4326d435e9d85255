import {
  formatTime,
  type IpAddressObject,
  ipFamilyLabel,
  ipManagedByLabel,
  type KubernetesObject,
  type ObjectMeta,
  type Service,
} from '@coracle/api'
import type { Environment } from '@coracle/environment'

/** Upstream's name for whatever gives services their addresses. */
export const allocatorName = 'ipallocator.k8s.io'

/** The object that says that an address is taken by a service. */
export function ipAddressOf(service: Service, ip: string, { clock, random }: Environment): IpAddressObject {
  const { namespace = '', name = '' } = service.metadata
  const metadata = {
    name: ip,
    uid: random.uuid(),
    creationTimestamp: formatTime(clock.now()),
    labels: addressLabels(ip),
  }
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata,
    spec: { parentRef: { resource: 'services', namespace, name } },
  }
}

/** By which an address object of a service is found. */
export const addressLabels = (ip: string): Readonly<Record<string, string>> => ({
  [ipFamilyLabel]: ip.includes(':') ? 'IPv6' : 'IPv4',
  [ipManagedByLabel]: allocatorName,
})

/** Whether an address object belongs to a service of that name. */
export function isAddressOf(object: KubernetesObject, { metadata }: { readonly metadata: ObjectMeta }): boolean {
  const { group = '', resource, namespace, name } = (object as IpAddressObject).spec.parentRef
  return group === '' && resource === 'services' && namespace === metadata.namespace && name === metadata.name
}
