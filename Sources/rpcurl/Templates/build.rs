//! Finds the declarations of the plugin ABI, which rpcurl installs.
use std::process::Command;

fn main() {
    let found = Command::new("pkg-config").args(["--variable=rustkit", "rpcurl"]).output();
    let folder = match found {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_string(),
        Err(error) => panic!("cannot run pkg-config: {error}"),
        Ok(_) => panic!(
            "pkg-config does not find rpcurl: install rpcurl-dev or rpcurl-devel, use make, or set PKG_CONFIG_PATH"
        ),
    };
    println!("cargo:rustc-env=RPCURL_RUST={folder}/rpcurl.rs");
    println!("cargo:rerun-if-changed={folder}/rpcurl.rs");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
}
