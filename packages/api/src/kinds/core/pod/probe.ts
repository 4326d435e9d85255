import {
  atomicList,
  enumOf,
  exactInt64,
  int32,
  intOrString,
  literal,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'

export interface ExecAction extends Infer<typeof execAction> {}
export const execAction = object(`${coreV1}.ExecAction`, 'A command to run in the container.', {
  command: optional(
    atomicList(string()),
    'The command and its arguments. No shell is involved. Exit code 0 is success.',
  ),
})

export interface HttpHeader extends Infer<typeof httpHeader> {}
export const httpHeader = object(`${coreV1}.HTTPHeader`, 'A header of a request.', {
  name: required(string(), 'Name of the header.', { default: '' }),
  value: required(string(), 'Its value.', { default: '' }),
})

export interface HttpGetAction extends Infer<typeof httpGetAction> {}
export const httpGetAction = object(
  `${coreV1}.HTTPGetAction`,
  'An HTTP request. A status from 200 to 399 is success.',
  {
    path: optional(string(), 'Path to ask for.', { default: '/' }),
    port: required(intOrString, "Number or name of one of the container's ports.", { default: 0 }),
    host: optional(string(), "Host to connect to; the pod's IP unless set. Set a Host header to change that only."),
    scheme: optional(enumOf('HTTP', 'HTTPS'), 'How to connect.', { default: 'HTTP' }),
    httpHeaders: optional(atomicList(httpHeader), 'Headers to send.'),
  },
)

export interface TcpSocketAction extends Infer<typeof tcpSocketAction> {}
export const tcpSocketAction = object(`${coreV1}.TCPSocketAction`, 'A TCP connection. That it opens is success.', {
  port: required(intOrString, "Number or name of one of the container's ports.", { default: 0 }),
  host: optional(string(), "Host to connect to; the pod's IP unless set."),
})

export interface GrpcAction extends Infer<typeof grpcAction> {}
export const grpcAction = object(
  `${coreV1}.GRPCAction`,
  'A call of the gRPC health checking protocol. SERVING is success.',
  {
    port: required(int32(), 'Port of the gRPC server.', { default: 0 }),
    service: pointer(string(), 'Service to ask about; the server as a whole unless set.', { default: '' }),
  },
)

export interface SleepAction extends Infer<typeof sleepAction> {}
export const sleepAction = object(`${coreV1}.SleepAction`, 'A pause.', {
  seconds: required(exactInt64(), 'How many seconds to wait.', { default: 0 }),
})

export interface Probe extends Infer<typeof probe> {}
export const probe = object(`${coreV1}.Probe`, 'A check that the node agent makes of a container, over and over.', {
  exec: optional(execAction, 'Check by running a command.'),
  httpGet: optional(httpGetAction, 'Check by an HTTP request.'),
  tcpSocket: optional(tcpSocketAction, 'Check by opening a TCP connection.'),
  grpc: optional(grpcAction, 'Check by a gRPC health call.'),
  initialDelaySeconds: optional(int32(), 'Seconds from the start of the container to the first check.'),
  timeoutSeconds: optional(int32(), 'Seconds after which a check has failed.', { default: 1 }),
  periodSeconds: optional(int32(), 'Seconds between checks.', { default: 10 }),
  successThreshold: optional(int32(), 'Successes in a row that make a failed check good again.', { default: 1 }),
  failureThreshold: optional(int32(), 'Failures in a row that count as a failure.', { default: 3 }),
  terminationGracePeriodSeconds: pointer(
    exactInt64(),
    "Seconds the container gets to end when the check kills it; the pod's unless set.",
  ),
})

export interface LifecycleHandler extends Infer<typeof lifecycleHandler> {}
export const lifecycleHandler = object(
  `${coreV1}.LifecycleHandler`,
  'What to do at a moment of a container’s life: one of these.',
  {
    exec: optional(execAction, 'Run a command.'),
    httpGet: optional(httpGetAction, 'Make an HTTP request.'),
    sleep: optional(sleepAction, 'Wait.'),
    tcpSocket: optional(
      tcpSocketAction,
      'Accepted for old clients, but nothing can be done with it: it fails when it runs.',
    ),
  },
)

/** The signals that containers may be stopped with; upstream's list for Linux. */
export type StopSignal = `SIG${string}`

export interface Lifecycle extends Infer<typeof lifecycle> {}
export const lifecycle = object(
  `${coreV1}.Lifecycle`,
  'What to do after a container starts and before it is stopped.',
  {
    postStart: optional(lifecycleHandler, 'Runs right after the start. The container is killed if it fails.'),
    preStop: optional(
      lifecycleHandler,
      'Runs before the container is stopped on purpose, within the grace period. Not when it ends by itself.',
    ),
    stopSignal: pointer(
      literal<StopSignal>(),
      "Signal that asks the container to end; the image's unless set. Needs spec.os.",
    ),
  },
)
