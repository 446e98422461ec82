/// The style of the page: light or dark as the browser is set, and readable on paper.
enum HTMLStyle {
  static let text = """
    :root {
      --back: #fff; --card: #f6f7f9; --text: #1c2127; --faint: #5c6670; --line: #d9dde2;
      --passed: #1a7f37; --failed: #c0202b; --error: #a83f00; --skipped: #7a6400; --bar: #9fb4cc; --link: #0b5394;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #14171a; --card: #1d2125; --text: #e4e7ea; --faint: #9aa4ae; --line: #353b41;
        --passed: #4fc46a; --failed: #ff7b72; --error: #ffa657; --skipped: #d8bd4a; --bar: #48617d; --link: #79b8ff;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; padding: 1.5rem; max-width: 70rem;
      background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
    }
    h1 { margin: 0; font-size: 1rem; font-weight: 600; color: var(--faint); }
    .verdict { margin: 0 0 .5rem; font-size: 1.6rem; font-weight: 600; }
    .verdict, .facts, td, th { overflow-wrap: anywhere; }
    .facts, .line { color: var(--faint); font-size: .85rem; }
    .share { display: flex; gap: 2px; height: 8px; border-radius: 4px; overflow: hidden; }
    .share i { min-width: 3px; background: currentColor; }
    .passed { color: var(--passed); } .failed { color: var(--failed); }
    .error { color: var(--error); } .skipped { color: var(--skipped); }
    .file { margin: .75rem 0; border: 1px solid var(--line); border-radius: 6px; }
    .file > summary { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: .6rem .9rem; cursor: pointer; }
    .file[open] > summary { border-bottom: 1px solid var(--line); }
    .path { flex: 1 1 13rem; font-weight: 600; overflow-wrap: anywhere; }
    .file > summary::before { content: "▸"; color: var(--faint); }
    .file[open] > summary::before { content: "▾"; }
    .test { padding: 0 .9rem; }
    table { width: 100%; border-collapse: collapse; }
    th { color: var(--faint); font-size: .8rem; font-weight: 500; text-align: left; }
    th, td { padding: .35rem .9rem; vertical-align: top; }
    tbody tr { border-top: 1px solid var(--line); }
    td { color: var(--text); }
    .outcome { width: 5.5rem; font-weight: 600; }
    tr.passed .outcome { color: var(--passed); } tr.failed .outcome { color: var(--failed); }
    tr.error .outcome { color: var(--error); } tr.skipped .outcome { color: var(--skipped); }
    .time { width: 5rem; white-space: nowrap; text-align: right; font-variant-numeric: tabular-nums; }
    .bars { width: 6rem; padding-left: 0; }
    .bar { display: block; height: .6rem; margin-top: .45rem; border-radius: 2px; background: var(--bar); }
    td summary { cursor: pointer; }
    .tag { display: inline-block; padding: 0 .4rem; overflow-wrap: anywhere; line-height: 1.4; border: 1px solid var(--line); border-radius: 1rem; font-size: .8rem; }
    pre {
      margin: .5rem 0; padding: .7rem .9rem; border-radius: 6px; background: var(--card);
      color: var(--text); font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
    }
    pre .title { font-weight: 600; } pre .faint { color: var(--faint); } pre .command { color: var(--link); }
    pre .removed { color: var(--failed); } pre .added { color: var(--passed); }
    h2 { margin: 1.5rem 0 .5rem; font-size: 1.2rem; }
    .coverage th, .coverage td { vertical-align: baseline; } .coverage tr:first-child { border-top: 0; }
    .coverage th { width: 30%; color: var(--text); font-size: inherit; overflow-wrap: anywhere; }
    .totals th, .totals td { width: auto; padding: .15rem .9rem .15rem 0; white-space: nowrap; }
    .coverage .meter { width: 60%; padding: 0; vertical-align: middle; }
    .meter { background: linear-gradient(var(--line), var(--line)) center / 100% .5rem no-repeat; }
    .meter i { display: block; height: .5rem; border-radius: 2px; background: var(--passed); }
    .chips { line-height: 1.9; } .chips b { font-weight: 600; } .unused { color: var(--faint); }
    .tag.used { border-color: var(--passed); } .tag.other { border-color: var(--link); } .tag.unused { border-style: dashed; }
    ul { margin: .3rem 0; padding-left: 1.1rem; font-size: .85rem; }
    code { font-family: ui-monospace, monospace; }
    @media print { body { max-width: none; padding: 0; } }
    @media (max-width: 40rem) {
      .bars { display: none; } body { padding: .75rem; } th, td { padding: .35rem .5rem; }
      .file > summary .time { width: auto; margin-left: auto; }
      .coverage .file th, .coverage .file td { display: block; width: auto; }
      .coverage .file th { padding-bottom: 0; } .coverage .file td { padding-top: 0; }
    }
    """
}
