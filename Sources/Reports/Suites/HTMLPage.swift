/// A page without scripts and links: a head, a header and content.
package enum HTMLPage {
  /// The page.
  ///
  /// - Parameters:
  ///   - title: The title, escaped.
  ///   - header: What is above the content, as HTML.
  ///   - main: The content, as HTML.
  ///   - style: Rules that follow those of all pages.
  package static func text(title: String, header: String, main: String, style: String = "") -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>\(title)</title>
    <style>
    \(HTMLStyle.text)\(style.isEmpty ? "" : "\n\(style)")
    </style>
    </head>
    <body>
    <header>
    \(header)</header>
    <main>
    \(main)</main>
    </body>
    </html>

    """
  }

  /// The text with markup, control and bidirectional characters escaped.
  package static func escape(_ text: String) -> String { XMLText.escape(ReportText.printable(text)) }
}
