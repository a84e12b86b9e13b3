import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDevice } from './format-device.ts'

const KHTML = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const APPLE = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

const rows = [
  [`Mozilla/5.0 (X11; Linux x86_64) ${KHTML} Chrome/147.0.0.0 Safari/537.36`, 'Chrome 147 on Linux'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${KHTML} HeadlessChrome/147.0.0.0 Safari/537.36`, 'Chrome 147 on Linux'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${KHTML} Chrome/147.0.0.0 Safari/537.36`, 'Chrome 147 on ChromeOS'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${KHTML} Chrome/147.0.0.0 Mobile Safari/537.36`, 'Chrome 147 on Android'],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${APPLE} CriOS/147.0.1 Mobile/15E148 Safari/604.1`,
    'Chrome 147 on iPhone',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/147.0.0.0 Safari/537.36 Edg/147.0.0.0`,
    'Edge 147 on Windows',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/146.0.0.0 Safari/537.36 OPR/130.0.0.0`,
    'Opera 130 on Windows',
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${KHTML} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet 29 on Android',
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox 150 on Windows'],
  [
    `Mozilla/5.0 (iPad; CPU OS 19_0 like Mac OS X) ${APPLE} FxiOS/150.0 Mobile/15E148 Safari/605.1.15`,
    'Firefox 150 on iPad',
  ],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${APPLE} Version/26.1 Safari/605.1.15`, 'Safari 26 on macOS'],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${APPLE} Version/26.1 Mobile/15E148 Safari/604.1`,
    'Safari 26 on iPhone',
  ],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)', 'Unknown browser on macOS'],
  ['curl/8.5.0', 'Unknown browser'],
  ['', 'Unknown browser'],
] as const
for (const [userAgent, text] of rows) {
  test(`“${userAgent}” is ${text}`, () => assert.equal(formatDevice(userAgent), text))
}
