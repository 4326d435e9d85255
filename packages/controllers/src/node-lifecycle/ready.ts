import type { Node } from '@coracle/api'
import { getCondition } from '@coracle/controller-runtime'

/** What a node says about being ready: True, False or Unknown; undefined where nobody has said anything yet. */
export const readyStatus = (node: Node): string | undefined => getCondition(node.status?.conditions, 'Ready')?.status
