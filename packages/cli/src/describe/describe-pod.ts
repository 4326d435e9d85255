import { computeQos, type Event, type Pod } from '@coracle/api'
import { describeContainers, describeResources, describeSeccomp } from './containers.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { controllerText, describeAnnotations, describeLabels, lifecycleText } from './metadata.ts'
import { describeTolerations } from './pod-template.ts'
import { describeSchedulingGroup } from './scheduling-group.ts'
import { describeTopologySpread } from './topology-spread.ts'
import { describeVolumes } from './volumes.ts'

/** A pod in detail (kubectl's describePod). */
export function describePod(pod: Pod, events: readonly Event[] | undefined, nowMs: number): string {
  const { metadata, spec, status = {} } = pod
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  if (spec.priority !== undefined) text.field(0, 'Priority', spec.priority)
  if (spec.priorityClassName) text.field(0, 'Priority Class Name', spec.priorityClassName)
  if (spec.runtimeClassName) text.field(0, 'Runtime Class Name', spec.runtimeClassName)
  if (spec.serviceAccountName) text.field(0, 'Service Account', spec.serviceAccountName)
  text.field(0, 'Node', spec.nodeName ? `${spec.nodeName}/${status.hostIP ?? ''}` : '<none>')
  text.time(0, 'Start Time', status.startTime)
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  describeState(text, pod, nowMs)
  describeContainerSections(text, pod)
  describeReadinessGates(text, pod)
  const conditions = (status.conditions ?? []).map((each) => `  ${each.type} \t${each.status} `)
  if (conditions.length > 0) text.heading(0, 'Conditions').line(1, 'Type\tStatus')
  for (const condition of conditions) text.line(0, condition)
  describeVolumes(text, spec.volumes)
  text.field(0, 'QoS Class', status.qosClass ?? computeQos(spec))
  describeLabels(text, 0, 'Node-Selectors', spec.nodeSelector)
  describeTolerations(text, 0, spec.tolerations)
  describeTopologySpread(text, 0, spec.topologySpreadConstraints)
  describeSchedulingGroup(text, 0, spec.schedulingGroup)
  describeEvents(text, events, nowMs)
  return text.toString()
}

function describeState(text: Description, pod: Pod, nowMs: number): void {
  const { metadata, spec, status = {} } = pod
  const isOver = status.phase === 'Failed' || status.phase === 'Succeeded'
  if (metadata.deletionTimestamp !== undefined && !isOver) {
    text.field(0, 'Status', lifecycleText(metadata, '', nowMs))
    text.field(0, 'Termination Grace Period', `${metadata.deletionGracePeriodSeconds ?? 0}s`)
  } else text.field(0, 'Status', status.phase ?? '')
  if (status.reason) text.field(0, 'Reason', status.reason)
  if (status.message) text.field(0, 'Message', status.message)
  describeSeccomp(text, { level: 0, profileLevel: 0 }, spec.securityContext?.seccompProfile)
  text.field(0, 'IP', status.podIP ?? '')
  const ips = status.podIPs ?? []
  if (ips.length === 0) text.field(0, 'IPs', '<none>')
  else text.heading(0, 'IPs')
  for (const { ip } of ips) text.field(1, 'IP', ip)
  const controller = controllerText(pod)
  if (controller !== undefined) text.field(0, 'Controlled By', controller)
  if (status.nominatedNodeName) text.field(0, 'NominatedNodeName', status.nominatedNodeName)
  if (spec.resources !== undefined) {
    text.heading(0, 'Resources')
    describeResources(text, 1, 'Limits', spec.resources.limits)
    describeResources(text, 1, 'Requests', spec.resources.requests)
  }
}

function describeContainerSections(text: Description, pod: Pod): void {
  const { spec, status = {} } = pod
  if ((spec.initContainers ?? []).length > 0) {
    const statuses = status.initContainerStatuses ?? []
    describeContainers(text, {
      label: 'Init Containers',
      containers: spec.initContainers ?? [],
      statuses,
      indent: '',
      pod,
    })
  }
  const statuses = status.containerStatuses ?? []
  describeContainers(text, { label: 'Containers', containers: spec.containers ?? [], statuses, indent: '', pod })
  const ephemeral = spec.ephemeralContainers ?? []
  if (ephemeral.length > 0) {
    const section = {
      label: 'Ephemeral Containers',
      statuses: status.ephemeralContainerStatuses ?? [],
      indent: '',
    } as const
    describeContainers(text, { ...section, containers: ephemeral, pod })
  }
}

function describeReadinessGates(text: Description, { spec, status }: Pod): void {
  const gates = spec.readinessGates ?? []
  if (gates.length > 0) text.heading(0, 'Readiness Gates').line(1, 'Type\tStatus')
  for (const { conditionType } of gates) {
    const state = status?.conditions?.find(({ type }) => type === conditionType)?.status
    text.line(1, `${conditionType} \t${state ?? '<none>'} `)
  }
}
