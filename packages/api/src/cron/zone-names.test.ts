import { expect, it } from 'vitest'
import { isZoneName } from './zone-names.ts'

it.each([
  'UTC',
  'EST5EDT',
  'GB-Eire',
  'Etc/GMT+5',
  'Europe/Rome',
  'Asia/Kolkata',
  'US/Pacific',
  'America/Argentina/Buenos_Aires',
])('knows the zone %s', (name) => expect(isZoneName(name)).toBe(true))

it.each([
  '',
  'utc',
  'PST',
  'IST',
  'SystemV/PST8',
  'europe/rome',
  'Europe/rome',
  'EUROPE/ROME',
  'Europe/InvalidRome',
  ' Europe/Rome',
  'Europe/Rome ',
  'Europe/../Europe/Rome',
  'Europe//Rome',
  '+01:00',
  'constructor',
])('knows no zone %j', (name) => expect(isZoneName(name)).toBe(false))
