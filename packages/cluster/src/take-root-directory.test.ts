import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { takeRootDirectory } from './take-root-directory.ts'

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'coracle-root-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return join(path, 'kubelet')
}

it('is the node’s that comes first, for good', async () => {
  const root = directory()
  await takeRootDirectory(root, 'node-0 in /a')
  mkdirSync(join(root, 'pods', 'uid'), { recursive: true })
  await takeRootDirectory(root, 'node-0 in /a')
  await expect(takeRootDirectory(root, 'node-0 in /b')).rejects.toThrow(
    `${root} is that of another node (node-0 in /a), as ${root}/coracle-node says: choose another directory`,
  )
})

it('is nobody’s where another node agent has pods', async () => {
  const root = directory()
  const pods = join(root, 'pods')
  mkdirSync(join(pods, 'uid'), { recursive: true })
  const taking = () => takeRootDirectory(root, 'node-0 in /a')
  await expect(taking()).rejects.toThrow(`${root} has pods of another node agent, which would lose their volumes:`)
  rmSync(join(pods, 'uid'), { recursive: true })
  await taking()
})
