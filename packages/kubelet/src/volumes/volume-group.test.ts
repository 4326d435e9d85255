import { chmodSync, constants, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { O_PATH } from './exact-path.ts'
import { giveOpened, giveToGroup } from './volume-group.ts'

const group = 1234
const mayGive = process.platform === 'linux' && process.getuid?.() === 0
const look = (path: string) => {
  const { gid, mode } = lstatSync(path)
  return [gid, (mode & 0o7777).toString(8)]
}

function volumeWithLink() {
  const [above, elsewhere] = [temporaryDirectory(), temporaryDirectory()]
  const volume = join(above, 'volume')
  mkdirSync(join(volume, 'in'), { recursive: true })
  chmodSync(join(volume, 'in'), 0o700)
  writeFileSync(join(volume, 'in', 'file'), '', { mode: 0o600 })
  writeFileSync(join(elsewhere, 'file'), '', { mode: 0o600 })
  symlinkSync(elsewhere, join(volume, 'link'))
  return { volume, elsewhere }
}

describe.skipIf(!mayGive)('the group of a volume', { meta: { needs: 'root on Linux' } }, () => {
  it('is given all that is in it, and nothing that links lead to', async () => {
    const { volume, elsewhere } = volumeWithLink()
    const pod = testPod({ securityContext: { fsGroup: group } })
    await giveToGroup({ path: volume, readOnly: false }, pod)
    expect(look(join(volume, 'in'))).toEqual([group, '2770'])
    expect(look(join(volume, 'in', 'file'))).toEqual([group, '660'])
    expect(look(join(volume, 'link'))[0]).toBe(group)
    expect(look(join(elsewhere, 'file'))).toEqual([0, '600'])
  })

  it('is given nothing that has come in its place meanwhile', async () => {
    const { volume, elsewhere } = volumeWithLink()
    const opened = await open(volume, O_PATH | constants.O_NOFOLLOW)
    renameSync(volume, `${volume}-moved`)
    symlinkSync(elsewhere, volume)
    await giveOpened(opened, volume, { group, readOnly: false }).finally(() => opened.close())
    expect(look(join(`${volume}-moved`, 'in', 'file'))).toEqual([group, '660'])
    expect(look(elsewhere)[0]).toBe(0)
    expect(look(join(elsewhere, 'file'))).toEqual([0, '600'])
  })
})
