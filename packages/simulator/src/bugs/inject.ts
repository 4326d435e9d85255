/** Loaded before a program: it reads the source of one file with the deliberate bug that CORACLE_DELIBERATE_BUG names. */
import { registerHooks } from 'node:module'
import { bugs } from './bugs.ts'

const bug = bugs.find(({ name }) => name === process.env.CORACLE_DELIBERATE_BUG)
if (bug === undefined) throw new Error(`no deliberate bug is called ${process.env.CORACLE_DELIBERATE_BUG}`)
const path = `/packages/${bug.file}`

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(path)) return loaded
    const source = Buffer.from(loaded.source as Uint8Array).toString()
    return { ...loaded, source: source.replace(bug.find, () => bug.replace) }
  },
})
