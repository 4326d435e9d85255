import { kindSchema } from '../../../meta.ts'
import { atomicList, boolean, int32, optional, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'

const streams = {
  stdin: optional(boolean, 'Whether what the client sends is the standard input.'),
  stdout: optional(boolean, 'Whether the client gets the standard output.'),
  stderr: optional(boolean, 'Whether the client gets the standard error.'),
  tty: optional(boolean, 'Whether there is a terminal. Then both outputs come as one.'),
  container: optional(string(), 'The container; the only one of the pod unless set.'),
}

/** What a connection to `pods/exec` asks for. Not stored: admission sees it. */
export interface PodExecOptions extends Infer<typeof podExecOptionsSchema> {}
export const podExecOptionsSchema = kindSchema(
  `${coreV1}.PodExecOptions`,
  'The command to run in a container, and how it is connected to the client.',
  { ...streams, command: optional(atomicList(string()), 'The command with its arguments; no shell looks at it.') },
)

/** What a connection to `pods/attach` asks for. */
export interface PodAttachOptions extends Infer<typeof podAttachOptionsSchema> {}
export const podAttachOptionsSchema = kindSchema(
  `${coreV1}.PodAttachOptions`,
  "How the client is connected to a container's own process.",
  streams,
)

/** What a connection to `pods/portforward` asks for. */
export interface PodPortForwardOptions extends Infer<typeof podPortForwardOptionsSchema> {}
export const podPortForwardOptionsSchema = kindSchema(
  `${coreV1}.PodPortForwardOptions`,
  'The ports of a pod that the client is connected to.',
  {
    ports: optional(
      atomicList(int32()),
      'The ports. Only needed over WebSocket channels; else each stream says its own.',
    ),
  },
)
