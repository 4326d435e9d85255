import {
  deepEqual,
  type EndpointAddress,
  type EndpointPort,
  type EndpointSubset,
  type Endpoints,
  endpoints as endpointsResource,
  isHeadless,
  type Pod,
  repackSubsets,
  type Service,
  type ServiceStatus,
} from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import { hasEnded, isReady } from '../pods/pod-state.ts'
import { addressInFamily, hostnameOf, targetPortOf } from '../services/pods-behind.ts'
import { withTriggerTime } from '../services/trigger-times.ts'
import { truncated } from './truncation.ts'

const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity'
export const managedByLabel = 'endpoints.kubernetes.io/managed-by'
const headlessLabel = 'service.kubernetes.io/headless'

/** Makes the Endpoints of a service hold its pods. Pure. */
export function planEndpoints(
  service: Service,
  pods: readonly Pod[],
  present: Endpoints | undefined,
  triggerTime?: string,
): Plan<ServiceStatus> {
  const { subsets, isOver } = subsetsOf(service, pods)
  const { namespace, name } = service.metadata
  const { [headlessLabel]: _headless, ...serviceLabels } = service.metadata.labels ?? {}
  const labels = {
    ...serviceLabels,
    [managedByLabel]: 'endpoint-controller',
    ...(isHeadless(service.spec) ? { [headlessLabel]: '' } : {}),
  }
  if (present === undefined) {
    const annotations = withTriggerTime(isOver ? { [overCapacityAnnotation]: 'truncated' } : {}, triggerTime)
    const metadata = { namespace, name, labels, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) }
    const object: Endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata, ...subsetsField(subsets) }
    const failed = {
      reason: 'FailedToCreateEndpoint',
      message: `Failed to create endpoint for service ${namespace}/${name}: {error}`,
    }
    const because = 'the service has none'
    return { actions: [{ type: 'create', resource: endpointsResource, object, because, events: { failed } }] }
  }
  const { [overCapacityAnnotation]: _, ...others } = present.metadata.annotations ?? {}
  const annotations = isOver ? { ...others, [overCapacityAnnotation]: 'truncated' } : others
  const same =
    deepEqual(present.subsets ?? [], subsets) &&
    deepEqual(present.metadata.labels ?? {}, labels) &&
    deepEqual(present.metadata.annotations ?? {}, annotations)
  if (same) return { actions: [] }
  const { subsets: _old, ...rest } = present
  const object: Endpoints = {
    ...rest,
    metadata: { ...present.metadata, labels, annotations: withTriggerTime(annotations, triggerTime) },
    ...subsetsField(subsets),
  }
  const because = 'what is behind the service has changed'
  const message = `Failed to update endpoint ${namespace}/${name}: {error}`
  const failed = { reason: 'FailedToUpdateEndpoint', message }
  return { actions: [{ type: 'update', resource: endpointsResource, object, because, events: { failed } }] }
}

const subsetsField = (subsets: readonly EndpointSubset[]) => (subsets.length === 0 ? {} : { subsets })

/** The pods with an address of the service's first family, by their ports; `isOver`: some are left out, as they are too many. */
function subsetsOf(service: Service, pods: readonly Pod[]) {
  const publishesAll = service.spec.publishNotReadyAddresses === true
  const single = pods.flatMap((pod): readonly EndpointSubset[] => {
    if (hasEnded(pod) || (!publishesAll && pod.metadata.deletionTimestamp !== undefined)) return []
    const ip = addressInFamily(pod, service.spec.ipFamilies?.[0])
    const ports = portsOf(service, pod)
    if (ip === undefined || ports === undefined) return []
    const addresses = [addressOf(service, pod, ip)]
    return [{ ...(publishesAll || isReady(pod) ? { addresses } : { notReadyAddresses: addresses }), ports }]
  })
  const all = repackSubsets(single)
  const kept = truncated(all)
  // Ports that now have the same addresses are listed together.
  return kept === all ? { subsets: all, isOver: false } : { subsets: repackSubsets(kept), isOver: true }
}

/** Undefined where the pod has none of the ports that the service names, and so is not behind it. */
function portsOf(service: Service, pod: Pod): readonly EndpointPort[] | undefined {
  const wanted = service.spec.ports ?? []
  const ports = wanted.flatMap((servicePort) => {
    const port = targetPortOf(pod, servicePort)
    if (port === undefined) return []
    const { name, protocol = 'TCP', appProtocol } = servicePort
    return [{ ...(name ? { name } : {}), port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }]
  })
  return wanted.length > 0 && ports.length === 0 ? undefined : ports
}

function addressOf(service: Service, pod: Pod, ip: string): EndpointAddress {
  const { namespace, name, uid } = pod.metadata
  const hostname = hostnameOf(pod, service)
  const { nodeName } = pod.spec
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName ? { nodeName } : {}),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
}
