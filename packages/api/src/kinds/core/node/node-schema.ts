import { kindSchema } from '../../../meta.ts'
import { optional } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { nodeSpec } from './node-spec.ts'
import { nodeStatus } from './node-status.ts'

/** A machine that runs pods. */
export interface Node extends Infer<typeof nodeSchema> {}
export const nodeSchema = kindSchema(
  `${coreV1}.Node`,
  'A machine that runs pods. Its agent registers it and keeps its status.',
  {
    spec: optional(nodeSpec, 'What is wanted of the node.', { default: {} }),
    status: optional(nodeStatus, 'How the node is, as its agent last said.', { default: {} }),
  },
)
