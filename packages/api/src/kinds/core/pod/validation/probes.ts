import { type FieldError, forbiddenField, invalidField, requiredField } from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import type { HttpGetAction, Lifecycle, LifecycleHandler, Probe } from '../probe.ts'
import { checkNonNegative, checkPort, checkPortNumber } from './checks.ts'

export type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe'

export function validateProbe(kind: ProbeKind, probe: Probe, path: FieldPath): FieldError[] {
  const errors = [...validateHandler(probe, undefined, path), ...validateProbeNumbers(probe, path)]
  const grace = probe.terminationGracePeriodSeconds
  const gracePath = path.field('terminationGracePeriodSeconds')
  if (kind === 'readinessProbe') {
    if (grace !== undefined) errors.push(invalidField(gracePath, grace, 'must not be set for readinessProbes'))
  } else if (probe.successThreshold !== undefined && probe.successThreshold !== 1) {
    errors.push(invalidField(path.field('successThreshold'), probe.successThreshold, 'must be 1'))
  }
  return errors
}

/** `graceSeconds` is the time the pod has to end, which a sleep before it must fit into. */
export function validateLifecycle(
  lifecycle: Lifecycle,
  graceSeconds: number | bigint | undefined,
  path: FieldPath,
): FieldError[] {
  const { postStart, preStop } = lifecycle
  return [
    ...(postStart ? validateHandler(postStart, graceSeconds, path.field('postStart')) : []),
    ...(preStop ? validateHandler(preStop, graceSeconds, path.field('preStop')) : []),
  ]
}

const probeNumbers = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const

function validateProbeNumbers(probe: Probe, path: FieldPath): FieldError[] {
  const errors = probeNumbers.flatMap((name) => checkNonNegative(probe[name], path.field(name)))
  const grace = probe.terminationGracePeriodSeconds
  if (grace === undefined || grace > 0) return errors
  return [...errors, invalidField(path.field('terminationGracePeriodSeconds'), grace, 'must be greater than 0')]
}

const handlerTypes = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const
type Handler = Probe & LifecycleHandler
type HandlerType = (typeof handlerTypes)[number]

/** Exactly one handler. The first one there is checked, further ones are too many. */
function validateHandler(handler: Handler, graceSeconds: number | bigint | undefined, path: FieldPath): FieldError[] {
  const [first, ...others] = handlerTypes.filter((type) => handler[type] !== undefined)
  if (first === undefined) return [requiredField(path, 'must specify a handler type')]
  return [
    ...validateAction(first, handler, graceSeconds, path.field(first)),
    ...others.map((type) => forbiddenField(path.field(type), 'may not specify more than 1 handler type')),
  ]
}

function validateAction(
  type: HandlerType,
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  graceSeconds: number | bigint | undefined,
  path: FieldPath,
): FieldError[] {
  switch (type) {
    case 'exec':
      return exec?.command?.length ? [] : [requiredField(path.field('command'))]
    case 'httpGet':
      return httpGet ? validateHttpGet(httpGet, path) : []
    case 'tcpSocket':
      return tcpSocket ? checkPort(tcpSocket.port, path.field('port')) : []
    case 'grpc':
      return grpc ? checkPortNumber(grpc.port, path.field('port')) : []
    case 'sleep':
      return sleep ? validateSleep(sleep.seconds, graceSeconds, path) : []
  }
}

function validateHttpGet(http: HttpGetAction, path: FieldPath): FieldError[] {
  const rule =
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
  const bad = (http.httpHeaders ?? []).filter((each) => !/^[-A-Za-z0-9]+$/.test(each.name))
  return [
    ...checkPort(http.port, path.field('port')),
    ...bad.map((each) => invalidField(path.field('httpHeaders'), each.name, rule)),
  ]
}

/** Not sleeping at all is allowed: https://kep.k8s.io/4818. */
function validateSleep(
  seconds: number | bigint,
  graceSeconds: number | bigint | undefined,
  path: FieldPath,
): FieldError[] {
  if (graceSeconds === undefined || (seconds >= 0 && seconds <= graceSeconds)) return []
  const rule = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`
  return [invalidField(path, seconds, rule)]
}
