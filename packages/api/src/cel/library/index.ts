/** All functions that expressions may use: the language's own, its extensions, and Kubernetes'. */
import type { FunctionTable } from '../check.ts'
import type { Overload } from '../functions.ts'
import { authorizers } from './authorizer.ts'
import { collections } from './collections.ts'
import { conversions } from './conversions.ts'
import { jsonPatches, kubernetes } from './kubernetes.ts'
import { network } from './network.ts'
import { operators } from './operators.ts'
import { strings } from './strings.ts'
import { times } from './times.ts'

/** What all expressions may use. */
const common: readonly Overload[] = [
  ...operators,
  ...conversions,
  ...strings,
  ...times,
  ...collections,
  ...kubernetes,
  ...network,
  ...authorizers,
]

export const functionTable: FunctionTable = tableOf(common)

/** With what only expressions of mutating policies may use. */
export const patchingFunctionTable: FunctionTable = tableOf([...common, ...jsonPatches])

function tableOf(overloads: readonly Overload[]): FunctionTable {
  const table = new Map<string, Overload[]>()
  for (const overload of overloads) {
    const known = table.get(overload.name)
    if (known === undefined) table.set(overload.name, [overload])
    else known.push(overload)
  }
  return table
}
