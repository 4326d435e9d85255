import {
  type Container,
  type ContainerState,
  type ContainerStatus,
  compareQuantity,
  compareText,
  type EnvVar,
  type Pod,
  type Probe,
  quantityMilli,
  quantityValue,
  type ResourceFieldSelector,
} from '@coracle/api'
import type { Description } from './description.ts'
import { goUrl, joinHostPort } from './go-url.ts'

/** Which containers, and where they stand in the text. */
export interface ContainersSection {
  /** Whose fields variables take; absent for a template. */
  readonly pod?: Pod
  readonly label: string
  readonly containers: readonly Container[]
  /** Absent for a template: its containers have none. */
  readonly statuses?: readonly ContainerStatus[]
  /** Spaces before the heading: kubectl sets the containers of a template two further in, their names three. */
  readonly indent: '' | '  '
}

/** Containers in kubectl's words (describe.go's describeContainers). */
export function describeContainers(
  text: Description,
  { label, containers, statuses, indent, pod }: ContainersSection,
): void {
  text.line(0, `${indent}${label}:${containers.length === 0 ? ' <none>' : ''}`)
  for (const container of containers) {
    const status = statuses?.find(({ name }) => name === container.name)
    text.line(1, `${indent === '' ? '' : ' '}${container.name}:`)
    describeBasics(text, container, status)
    describeCommand(text, 'Command', container.command)
    describeCommand(text, 'Args', container.args)
    if (status !== undefined) describeStatus(text, status)
    describeResources(text, 2, 'Limits', container.resources?.limits)
    describeResources(text, 2, 'Requests', container.resources?.requests)
    describeProbe(text, 'Liveness', container.livenessProbe)
    describeProbe(text, 'Readiness', container.readinessProbe)
    describeProbe(text, 'Startup', container.startupProbe)
    describeEnvironment(text, container, pod)
    describeMounts(text, container)
  }
}

function describeBasics(text: Description, container: Container, status: ContainerStatus | undefined): void {
  if (status !== undefined) text.field(2, 'Container ID', status.containerID ?? '')
  text.field(2, 'Image', container.image ?? '')
  if (status !== undefined) text.field(2, 'Image ID', status.imageID ?? '')
  const ports = container.ports ?? []
  const plural = ports.length > 1 ? 's' : ''
  const join = (texts: readonly string[]): string => (texts.length === 0 ? '<none>' : texts.join(', '))
  text.field(
    2,
    `Port${plural}`,
    join(
      ports.map(
        ({ containerPort, protocol = 'TCP', name }) => `${containerPort}/${protocol}${name ? ` (${name})` : ''}`,
      ),
    ),
  )
  text.field(
    2,
    `Host Port${plural}`,
    join(ports.map(({ hostPort = 0, protocol = 'TCP', name }) => `${hostPort}/${protocol}${name ? ` (${name})` : ''}`)),
  )
  describeSeccomp(text, { level: 2, profileLevel: 3 }, container.securityContext?.seccompProfile)
}

/** The system calls that containers may make, where that is said; the name of a profile of the node stands at its own level. */
export function describeSeccomp(
  text: Description,
  { level, profileLevel }: { readonly level: number; readonly profileLevel: number },
  profile: { readonly type: string; readonly localhostProfile?: string | undefined } | undefined,
): void {
  if (profile === undefined) return
  text.field(level, 'SeccompProfile', profile.type)
  if (profile.type === 'Localhost') text.field(profileLevel, 'LocalhostProfile', profile.localhostProfile ?? '')
}

function describeCommand(text: Description, label: string, words: readonly string[] | undefined): void {
  if (words === undefined || words.length === 0) return
  text.heading(2, label)
  for (const word of words) for (const line of word.split('\n')) text.line(3, line)
}

function describeStatus(text: Description, status: ContainerStatus): void {
  describeState(text, 'State', status.state)
  if (status.lastState?.terminated !== undefined) describeState(text, 'Last State', status.lastState)
  text.field(2, 'Ready', status.ready ? 'True' : 'False')
  text.field(2, 'Restart Count', status.restartCount)
}

function describeState(text: Description, label: string, state: ContainerState = {}): void {
  const { running, terminated, waiting } = state
  if (running !== undefined) text.field(2, label, 'Running').timeOrZero(3, 'Started', running.startedAt)
  else if (terminated !== undefined) {
    text.field(2, label, 'Terminated')
    if (terminated.reason) text.field(3, 'Reason', terminated.reason)
    if (terminated.message) text.field(3, 'Message', terminated.message)
    text.field(3, 'Exit Code', terminated.exitCode)
    if (terminated.signal) text.field(3, 'Signal', terminated.signal)
    text.timeOrZero(3, 'Started', terminated.startedAt).timeOrZero(3, 'Finished', terminated.finishedAt)
  } else {
    text.field(2, label, 'Waiting')
    if (waiting?.reason) text.field(3, 'Reason', waiting.reason)
  }
}

/** Amounts of resources under a label; nothing where there are none. */
export function describeResources(
  text: Description,
  level: number,
  label: string,
  list: Readonly<Record<string, string>> | undefined,
): void {
  const names = Object.keys(list ?? {}).sort()
  if (names.length === 0) return
  text.heading(level, label)
  for (const name of names) text.field(level + 1, name, list?.[name] ?? '')
}

function describeProbe(text: Description, label: string, probe: Probe | undefined): void {
  if (probe !== undefined) text.field(2, label, probeText(probe))
}

/** `http-get http://:8080/healthz delay=0s timeout=1s period=10s #success=1 #failure=3` */
export function probeText(probe: Probe): string {
  const { initialDelaySeconds = 0, timeoutSeconds, periodSeconds, successThreshold, failureThreshold } = probe
  const timing = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s #success=${successThreshold} #failure=${failureThreshold}`
  return `${checkText(probe)} ${timing}`
}

function checkText({ exec, httpGet, tcpSocket, grpc }: Probe): string {
  if (exec !== undefined) return `exec [${(exec.command ?? []).join(' ')}]`
  if (httpGet !== undefined) {
    const { scheme = 'HTTP', host = '', port, path = '' } = httpGet
    return `http-get ${goUrl({ scheme: scheme.toLowerCase(), host: joinHostPort(host, port), path })}`
  }
  if (tcpSocket !== undefined) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`
  if (grpc !== undefined) return `grpc <pod>:${grpc.port} ${grpc.service ?? ''}`
  return 'unknown'
}

function describeEnvironment(text: Description, container: Container, pod: Pod | undefined): void {
  const { env = [], envFrom = [] } = container
  if (envFrom.length > 0) {
    text.heading(2, 'Environment Variables from')
    for (const { prefix, configMapRef, secretRef } of envFrom) {
      const [name, kind, reference] = configMapRef
        ? [configMapRef.name, 'ConfigMap', configMapRef]
        : [secretRef?.name, 'Secret', secretRef]
      const prefixed = prefix ? ` with prefix '${prefix}'` : ''
      text.line(3, `${name ?? ''}\t${kind}${prefixed}\tOptional: ${reference?.optional === true}`)
    }
  }
  if (env.length === 0) text.field(2, 'Environment', '<none>')
  else text.heading(2, 'Environment')
  for (const variable of env) {
    const [first, ...others] = variableLines(variable, container, pod)
    if (first !== undefined) text.field(3, variable.name, first)
    for (const other of others) text.line(3, `\t${other}`)
  }
}

/** What a variable is set to. Of a source that kubectl does not know there is no line. */
function variableLines({ value = '', valueFrom }: EnvVar, container: Container, pod?: Pod): readonly string[] {
  if (valueFrom === undefined) return value.split('\n')
  const { fieldRef, resourceFieldRef, secretKeyRef, configMapKeyRef } = valueFrom
  if (fieldRef) return [`${fieldText(pod, fieldRef.fieldPath)} (${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath})`]
  if (resourceFieldRef) return [`${resourceText(container, resourceFieldRef)} (${resourceFieldRef.resource})`]
  if (secretKeyRef) return [keyText(secretKeyRef, 'in secret')]
  return configMapKeyRef ? [keyText(configMapKeyRef, 'of config map')] : []
}

/** What `limits.cpu` of a container says, in units of the divisor; a limit that it has not is what its node can give. */
function resourceText({ resources }: Container, { resource, divisor = '0' }: ResourceFieldSelector): string {
  const [, list, name = ''] = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.*)$/.exec(resource) ?? []
  if (list === undefined) return ''
  const amount = (list === 'limits' ? resources?.limits?.[name] : resources?.requests?.[name]) ?? '0'
  const unit = compareQuantity(divisor, '0') === 0 ? '1' : divisor
  const inUnits =
    name === 'cpu' ? quantityMilli(amount) / quantityMilli(unit) : quantityValue(amount) / quantityValue(unit)
  const units = String(Math.ceil(inUnits))
  return units === '0' && ['limits.cpu', 'limits.memory'].includes(resource) ? 'node allocatable' : units
}

/** What a field says; kubectl knows of name and namespace alone. */
function fieldText(pod: Pod | undefined, path: string): string {
  const { name = '', namespace = '' } = pod?.metadata ?? {}
  return path === 'metadata.name' ? name : path === 'metadata.namespace' ? namespace : ''
}

function keyText(
  { key, name, optional }: { key: string; name?: string | undefined; optional?: boolean | undefined },
  where: string,
): string {
  return `<set to the key '${key}' ${where} '${name ?? ''}'>\tOptional: ${optional === true}`
}

function describeMounts(text: Description, { volumeMounts = [], volumeDevices = [] }: Container): void {
  if (volumeMounts.length === 0) text.field(2, 'Mounts', '<none>')
  else text.heading(2, 'Mounts')
  for (const { mountPath, name, readOnly, subPath } of volumeMounts.toSorted((a, b) =>
    compareText(a.mountPath, b.mountPath),
  )) {
    const flags = [readOnly === true ? 'ro' : 'rw', ...(subPath ? [`path=${JSON.stringify(subPath)}`] : [])]
    text.line(3, `${mountPath} from ${name} (${flags.join(',')})`)
  }
  // kubectl says of devices that there are none where there are no mounts.
  if (volumeDevices.length > 0) text.line(2, `Devices:${volumeMounts.length === 0 ? '\t<none>' : ''}`)
  const byPath = volumeDevices.toSorted((a, b) => compareText(a.devicePath, b.devicePath))
  for (const { devicePath, name } of byPath) text.line(3, `${devicePath} from ${name}`)
}
