import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '@coracle/environment'

/** By what the containers of a node agent are known among all of the runtime. It outlives the agent, and moves with its directory. */
export async function agentIdOf(directory: string, { random }: Environment): Promise<string> {
  const path = join(directory, 'agent-id')
  const known = await readFile(path, 'utf8').catch(() => '')
  if (known !== '') return known.trim()
  const id = random.string(16, '0123456789abcdef')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(path, `${id}\n`, { mode: 0o600 })
  return id
}
