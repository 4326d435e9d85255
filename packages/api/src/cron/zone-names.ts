/** Names of time zones as the IANA database has them. The engine takes others, too: in any case, and old ones such as PST. */
import { timeZone } from './time-zone.ts'

/** Zones of no area. There will be no more of them. */
const withoutArea = new Set(
  'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu'.split(
    ' ',
  ),
)

const areas = new Set(
  'Africa America Antarctica Arctic Asia Atlantic Australia Brazil Canada Chile Etc Europe Indian Mexico Pacific US'.split(
    ' ',
  ),
)

/**
 * Whether the database has a zone of that very name, as upstream finds it in the files of a machine. Of names that stand for others the
 * case is only looked at in the area.
 */
export function isZoneName(name: string): boolean {
  const [area = '', ...rest] = name.split('/')
  const isPlausible = rest.length === 0 ? withoutArea.has(area) : areas.has(area)
  if (!isPlausible || timeZone(name) === undefined) return false
  const canonical = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  return canonical === name || canonical.toLowerCase() !== name.toLowerCase()
}
